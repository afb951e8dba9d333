// Serves the page of a running pipeline and its state as JSON, one client at a time.
#include "cli/run/live_page.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/clock.hpp"

namespace ridge::cli {
namespace {

constexpr const char* kLivePage = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>ridge run</title><link rel="icon" href="data:,"><style>
:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:1000px;margin:0 auto;padding:0 16px}
table{border-collapse:collapse;width:100%}td,th{padding:2px 10px;text-align:left;border-bottom:1px solid #8884}
canvas{width:100%;height:256px;image-rendering:pixelated;border:1px solid #8884}.bad{color:#c22;font-weight:600}
</style></head><body><h1>ridge run</h1><p id="state">waiting</p>
<h2>Stages</h2><table id="stages"></table>
<h2>Power</h2><p>time to the right, highest frequency at the top</p><canvas id="waterfall" width="128" height="64"></canvas>
<h2>Candidates</h2><table id="candidates"></table>
<script>
const cell=(row,text,bad)=>{const c=row.insertCell();c.textContent=text;if(bad)c.className="bad"};
const number=x=>x===undefined?"":Math.abs(x)>=1e5||(x!==0&&Math.abs(x)<1e-3)?x.toExponential(2):+x.toPrecision(5)+"";
function table(id,head,rows){const t=document.getElementById(id);t.replaceChildren();
  const h=t.insertRow();for(const w of head){const c=document.createElement("th");c.textContent=w;h.append(c)}
  for(const r of rows){const row=t.insertRow();for(const [text,bad] of r)cell(row,text,bad)}}
function rate(s){if(s.bytes!==undefined)return number(8e-9*s.bytes/Math.max(s.seconds,1e-9))+" Gbit/s";
  return s.sample_rate!==undefined?number(s.sample_rate)+" sample/s":""}
// Speed of a stage relative to real time while it has data. Capture: time per processor time of its thread.
function margin(s){const m=s.margin??(s.processor_seconds>0?s.seconds/s.processor_seconds:0);return m>0?m:undefined}
function least(stages){const all=stages.map(x=>[margin(x.status),x.name]).filter(([m])=>m!==undefined).sort((a,b)=>a[0]-b[0]);
  return all.length?`, margin ${number(all[0][0])} times real time (${all[0][1]})`:""}
function losses(s){const w=[];for(const k of ["lost","late","duplicates","conflicts","damaged","foreign","unconfirmed","overrun",
  "kernel_drops","rows_lost"])if(s[k])w.push(k+" "+s[k]);return w.join(", ")}
function draw(rows){const c=document.getElementById("waterfall"),g=c.getContext("2d");if(!rows||!rows.length)return;
  c.width=rows.length;c.height=rows[0].length;const p=g.createImageData(c.width,c.height);
  rows.forEach((column,x)=>column.forEach((v,y)=>{const i=4*(y*c.width+x),t=v/99;
    p.data[i]=255*Math.min(1,2*t);p.data[i+1]=255*Math.max(0,2*t-1);p.data[i+2]=120*(1-t);p.data[i+3]=255}));
  g.putImageData(p,0,0)}
async function show(){try{const s=await(await fetch("status.json",{cache:"no-store"})).json();
  document.getElementById("state").textContent=s.state+", "+number(s.seconds)+" s"+least(s.stages);
  table("stages",["stage","state","rate","margin, times real time","losses"],s.stages.map(x=>[[x.name],[x.state,x.state.startsWith("failed")],
    [rate(x.status)],[number(margin(x.status)),margin(x.status)<1],[losses(x.status),true]]));
  const found=s.stages.flatMap(x=>x.status.candidates||[]).reverse();
  table("candidates",["time, s","DM","S/N","width, ms"],found.map(x=>[[number(x.time)],[number(x.dm)],[number(x.snr)],[number(1e3*x.width)]]));
  for(const x of s.stages)if(x.status.waterfall)draw(x.status.waterfall.rows);
  if(s.state!=="running")return}catch(e){document.getElementById("state").textContent="the pipeline has ended";return}
  setTimeout(show,500)}
show();
</script></body></html>
)";

std::string answer_to(const std::string& request, const std::function<std::string()>& status) {
  const bool json = request.starts_with("GET /status.json "), page = request.starts_with("GET / ");
  const std::string body = json ? status() : page ? kLivePage : "not found\n";
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{}",
      json || page ? "200 OK" : "404 Not Found",
      json   ? "application/json"
      : page ? "text/html; charset=utf-8"
             : "text/plain",
      body.size(), body);
}

// A client that sends or reads too slowly is dropped after a second.
void answer_client(int client, const std::function<std::string()>& status) {
  const timeval patience{1, 0};
  ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  std::string request;
  char some[2048];
  while (request.size() < 16384 && request.find("\r\n\r\n") == std::string::npos) {
    const ssize_t got = ::recv(client, some, sizeof some, 0);
    if (got <= 0) return;
    request.append(some, static_cast<std::size_t>(got));
  }
  const std::string text = answer_to(request, status);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t sent = ::send(client, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (sent <= 0) return;
    done += static_cast<std::size_t>(sent);
  }
}

}  // namespace

LivePage::LivePage(unsigned port) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  ::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  socklen_t length = sizeof address;
  if (descriptor_ < 0 || ::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(descriptor_, 16) != 0 ||
      ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    const std::string reason = std::generic_category().message(errno);
    if (descriptor_ >= 0) ::close(descriptor_);
    throw Error(ErrorKind::io, fmt::format("cannot serve the page at 127.0.0.1:{}: {}", port, reason));
  }
  port_ = ntohs(address.sin_port);
}

LivePage::~LivePage() { ::close(descriptor_); }

void LivePage::serve(double seconds, const std::function<std::string()>& status) const {
  const double end = base::now() + seconds;
  do {
    pollfd wait{descriptor_, POLLIN, 0};
    const int left = static_cast<int>(1e3 * std::max(0.0, end - base::now()));
    if (::poll(&wait, 1, left) <= 0) continue;
    const int client = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    answer_client(client, status);
    ::close(client);
  } while (base::now() < end);
}

}  // namespace ridge::cli
