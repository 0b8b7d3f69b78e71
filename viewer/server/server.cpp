#include "viewer/server/server.hpp"

#include <array>
#include <chrono>
#include <random>
#include <string_view>

#include <fmt/format.h>
#include <httplib.h>

#include "base/error.hpp"
#include "base/temporary.hpp"
#include "viewer/page/page_files.hpp"

namespace rayreplay::viewer {
namespace {

constexpr const char* kLoopback = "127.0.0.1";
constexpr std::string_view kData = "/data/";
constexpr std::size_t kConnections = 64;
constexpr std::string_view kCookie = "rayreplay-view-";

/// Nothing from outside of the server, and no script within the page's text. Style attributes are three.js's.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src "
    "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Compares all characters, so that the time tells nothing of the place where two differ.
bool is_same(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

const char* type_of(std::string_view name) {
  return name.ends_with(".js") ? "text/javascript" : name.ends_with(".css") ? "text/css" : "text/html";
}

void refuse(httplib::Response& response, int status, const char* text) {
  response.status = status;
  response.set_content(text, "text/plain");
}

}  // namespace

struct Server::State {
  Content& content;
  httplib::Server http{};
  std::string token{}, cookie{}, url{};
  std::array<std::string, 2> hosts{};

  /// Whether one of the cookies is the token's.
  bool has_cookie(std::string_view cookies) const {
    while (!cookies.empty()) {
      const std::size_t end = std::min(cookies.find(';'), cookies.size());
      std::string_view one = cookies.substr(0, end);
      one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
      if (one.starts_with(cookie) && is_same(one.substr(cookie.size()), token)) {
        return true;
      }
      cookies.remove_prefix(std::min(end + 1, cookies.size()));
    }
    return false;
  }

  /// Whether the request names this server and has its token; else the answer is a refusal.
  bool admits(const httplib::Request& request, httplib::Response& response) const {
    const std::string host = request.get_header_value("Host");
    if (host != hosts[0] && host != hosts[1]) {
      refuse(response, 403, "This server answers to its own address only.");
      return false;
    }
    const bool by_cookie = has_cookie(request.get_header_value("Cookie"));
    if (!by_cookie && !is_same(request.get_param_value("token"), token)) {
      refuse(response, 403, "The token is missing or wrong: open the address that rayreplay view printed.");
      return false;
    }
    return true;
  }

  void send_page(const httplib::Request& request, httplib::Response& response) const {
    if (!admits(request, response)) {
      return;
    }
    const std::string name = request.path == "/" ? "index.html" : request.path.substr(1);
    for (const PageFile& file : page_files()) {
      if (file.name == name) {
        response.set_header("Set-Cookie", cookie + token + "; Path=/; HttpOnly; SameSite=Strict");
        response.set_content(file.text.data(), file.text.size(), type_of(name));
        return;
      }
    }
    refuse(response, 404, "No such page.");
  }

  void send_data(const httplib::Request& request, httplib::Response& response) {
    if (!admits(request, response)) {
      return;
    }
    Request asked{request.path.substr(kData.size()), {}};
    for (const auto& [name, value] : request.params) {
      if (name != "token") {
        asked.parameters.emplace_back(name, value);
      }
    }
    const Answer answer = content.answer(asked);
    response.status = answer.status;
    response.set_content(answer.body, answer.type);
  }
};

Server::Server(Content& content, std::uint16_t port) : state_(new State{content}) {
  State& state = *state_;
  state.token = random_digits() + random_digits();
  state.http.set_default_headers({{"Content-Security-Policy", kPolicy},
                                  {"X-Content-Type-Options", "nosniff"},
                                  {"Referrer-Policy", "no-referrer"},
                                  {"Cross-Origin-Resource-Policy", "same-origin"},
                                  {"Cache-Control", "no-store"}});
  state.http.set_payload_max_length(0);
  // Not the library's SO_REUSEPORT, with which another program could listen on the same port.
  state.http.set_socket_options([](socket_t socket) {
    const int on = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  });
  // Several ranges of one answer would be copied into memory at once; the page asks for none.
  state.http.set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
    if (!request.has_header("Range")) {
      return httplib::Server::HandlerResponse::Unhandled;
    }
    refuse(response, 416, "Answers are sent whole.");
    return httplib::Server::HandlerResponse::Handled;
  });
  // A connection that says nothing holds a thread this long.
  state.http.set_read_timeout(std::chrono::seconds(3));
  state.http.new_task_queue = [] { return new httplib::ThreadPool(kConnections); };
  state.http.Get("/data/.+", [&state](const auto& request, auto& response) { state.send_data(request, response); });
  state.http.Get("/.*", [&state](const auto& request, auto& response) { state.send_page(request, response); });
  int bound = port;
  if (port == 0) {
    bound = state.http.bind_to_any_port(kLoopback);
  } else if (!state.http.bind_to_port(kLoopback, port)) {
    bound = -1;
  }
  if (bound < 0) {
    throw Error(ErrorKind::Resource, {"the server cannot listen on this port", "--port", std::to_string(port), "",
                                      "name another one, or leave --port out: any free port is taken"});
  }
  state.hosts = {fmt::format("{}:{}", kLoopback, bound), fmt::format("localhost:{}", bound)};
  // By port, because cookies of a host are those of all its ports.
  state.cookie = fmt::format("{}{}=", kCookie, bound);
  state.url = fmt::format("http://{}/?token={}", state.hosts[0], state.token);
}

Server::~Server() = default;

const std::string& Server::url() const {
  return state_->url;
}
void Server::serve() {
  state_->http.listen_after_bind();
}
void Server::stop() {
  state_->http.stop();
}

}  // namespace rayreplay::viewer
