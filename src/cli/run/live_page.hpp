// A page on the loopback that shows a running pipeline: GET / and GET /status.json.
#pragma once
#include <functional>
#include <string>

namespace ridge::cli {

class LivePage {
 public:
  explicit LivePage(unsigned port);  // 0: any free port; 127.0.0.1 only
  ~LivePage();
  LivePage(const LivePage&) = delete;
  LivePage& operator=(const LivePage&) = delete;
  unsigned port() const { return port_; }
  // Answers requests for up to `seconds`. `status` makes the JSON text.
  void serve(double seconds, const std::function<std::string()>& status) const;

 private:
  int descriptor_ = -1;
  unsigned port_ = 0;
};

}  // namespace ridge::cli
