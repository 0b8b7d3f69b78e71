// The viewer's server: the page and its data, for this machine's user alone.
//
// Contract: listens on the loopback interface, on `port` or (0) on a free one. Every address but the page's own files
// needs the token: 32 random hexadecimal digits that the first address carries and a cookie keeps (SameSite=Strict).
// Requests with another Host are refused (403), so no other page can reach the server under a name of its own (DNS
// rebinding). Answers carry a content security policy that allows nothing from outside. Only GET and HEAD. `url` is
// what a browser opens. `serve` returns after `stop`, from any thread. Errors: Resource if the port is taken.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "viewer/content/content.hpp"

namespace rayreplay::viewer {

class Server {
 public:
  Server(Content& content, std::uint16_t port);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] const std::string& url() const;
  void serve();
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rayreplay::viewer
