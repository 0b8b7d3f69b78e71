// The viewer's server: admitted and refused requests, and the headers of answers.
#include "viewer/server/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include <httplib.h>

#include "base/error.hpp"
#include "capture/trace/reader.hpp"
#include "tests/viewer/trace_of_tracer.hpp"

namespace rayreplay::viewer {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class ViewerServer : public testing::Test {
 protected:
  void SetUp() override {
    auto data = std::make_shared<experiment::InputData>();
    data->trace = trace::load(test::small_view(scratch_));
    content_ = std::make_unique<Content>(ContentOptions{.trace_file = "t.rrt", .asked = {}}, data, nullptr);
    server_ = std::make_unique<Server>(*content_, std::uint16_t{0});
    thread_ = std::thread([this] { server_->serve(); });
    const std::string& url = server_->url();
    const std::size_t query = url.find("/?token=");
    token_ = url.substr(query + 8);
    origin_ = url.substr(0, query);
    client_ = std::make_unique<httplib::Client>(origin_);
    // Stopping before the loop runs would be lost.
    while (!client_->Get("/")) {
    }
  }
  void TearDown() override {
    server_->stop();
    thread_.join();
  }
  [[nodiscard]] std::string host() const {
    return origin_.substr(std::string("http://").size());
  }

  test::Scratch scratch_;
  std::unique_ptr<Content> content_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
  std::string token_, origin_;
  std::unique_ptr<httplib::Client> client_;
};

TEST_F(ViewerServer, TheTokenOpensThePageAndTheCookieKeepsIt) {
  EXPECT_THAT(server_->url(), MatchesRegex("http://127\\.0\\.0\\.1:[0-9]+/\\?token=[0-9a-f]+"));
  EXPECT_EQ(token_.size(), 32U);
  EXPECT_EQ(client_->Get("/")->status, 403);
  EXPECT_EQ(client_->Get("/data/trace")->status, 403);
  EXPECT_EQ(client_->Get("/?token=" + std::string(32, '0'))->status, 403);
  EXPECT_EQ(client_->Get("/?token=" + token_.substr(1))->status, 403);
  const auto page = client_->Get("/?token=" + token_);
  ASSERT_EQ(page->status, 200);
  EXPECT_THAT(page->body, HasSubstr("<title>rayreplay</title>"));
  const std::string cookie = page->get_header_value("Set-Cookie");
  EXPECT_THAT(cookie, HasSubstr("HttpOnly; SameSite=Strict"));
  const httplib::Headers kept{{"Cookie", "other=1; " + cookie.substr(0, cookie.find(';'))}};
  EXPECT_EQ(client_->Get("/viewer.js", kept)->status, 200);
  EXPECT_EQ(client_->Get("/data/trace", kept)->status, 200);
  EXPECT_EQ(client_->Get("/data/trace", {{"Cookie", cookie.substr(0, cookie.find('=') + 5)}})->status, 403);
}

TEST_F(ViewerServer, OtherHostsAreRefused) {
  for (const std::string name : {"evil.example", "127.0.0.1", "", "127.0.0.1:1", "localhost"}) {
    EXPECT_EQ(client_->Get("/?token=" + token_, {{"Host", name}})->status, 403) << name;
  }
  const std::string port = host().substr(host().find(':'));
  EXPECT_EQ(client_->Get("/?token=" + token_, {{"Host", "localhost" + port}})->status, 200);
}

TEST_F(ViewerServer, NothingFromOutsideAndNothingElse) {
  const auto page = client_->Get("/?token=" + token_);
  EXPECT_THAT(page->get_header_value("Content-Security-Policy"), HasSubstr("default-src 'none'; script-src 'self'"));
  EXPECT_EQ(page->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_THAT(page->body, Not(HasSubstr("http://")));
  EXPECT_THAT(page->body, Not(HasSubstr("https://")));
  for (const std::string path : {"/../t.rrt", "/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "//etc/passwd",
                                 "/index.html/x", "/data/../trace", "/data/"}) {
    const auto answer = client_->Get(path + "?token=" + token_);
    EXPECT_EQ(answer->status, 404) << path;
    EXPECT_THAT(answer->body, Not(HasSubstr("root:"))) << path;
  }
  EXPECT_NE(client_->Post("/?token=" + token_, "x", "text/plain")->status, 200);
  EXPECT_NE(client_->Delete("/data/trace?token=" + token_)->status, 200);
  EXPECT_EQ(client_->Head("/?token=" + token_)->status, 200);
  // A long address and a range beyond the data: answered or refused, and the server goes on.
  static_cast<void>(client_->Get("/data/" + std::string(100000, 'a') + "?token=" + token_));
  static_cast<void>(client_->Get("/viewer.js?token=" + token_, {{"Range", "bytes=99999999999-999999999999"}}));
  EXPECT_EQ(client_->Get("/data/trace?token=" + token_)->status, 200);
}

TEST_F(ViewerServer, APortThatIsTakenIsSaid) {
  const std::string port = host().substr(host().find(':') + 1);
  try {
    const Server second(*content_, static_cast<std::uint16_t>(std::stoi(port)));
    FAIL() << "two servers on one port";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Resource);
    EXPECT_EQ(error.info().found, port);
  }
}

}  // namespace
}  // namespace rayreplay::viewer
