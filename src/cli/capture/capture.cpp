// ridge capture: UDP packets to a file, pipe or ring, with every loss counted and flagged.
#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/capture/replay.hpp"
#include "command/command.hpp"
#include "command/process.hpp"
#include "io/capture/capture.hpp"
#include "io/telescopes/psrdada.hpp"

namespace ridge::cli {
namespace {

struct CaptureCommand {
  std::string address, out, format = "counter", flags, report, header;
  std::size_t payload = 0, buffer = std::size_t{128} << 20, per_second = 0, window = 256, packets = 0;
  std::size_t longest_gap = std::size_t{1} << 20;
  io::CaptureOptions options{};
  ReplayOptions replay{};
  std::size_t seed = 1, jump_at = 0, jump_by = 0;
  bool quiet = false;
};

base::Json json_of(const io::CaptureReport& report) {
  const io::CaptureCounts& c = report.counts;
  base::Json json;
  json["received"] = c.received();
  json["stored"] = c.stored;
  json["duplicates"] = c.duplicates;
  json["conflicts"] = c.conflicts;
  json["late"] = c.late;
  json["overrun"] = c.overrun;
  json["damaged"] = c.damaged;
  json["foreign"] = c.foreign;
  json["unknown_stream"] = c.unknown_stream;
  json["unconfirmed"] = c.unconfirmed;
  json["delivered"] = c.delivered;
  json["lost"] = c.lost;
  json["kernel_drops"] = report.kernel_drops;
  json["dropped_blocks"] = report.dropped_blocks;
  json["first_counter"] = report.first;
  json["last_counter"] = report.last;
  json["bytes"] = report.bytes;
  json["seconds"] = report.seconds;
  json["processor_seconds"] = report.processor_seconds;
  json["start"] = io::utc_text(report.start).text;
  json["ended"] = report.ended;
  return json;
}

std::string text_of(const io::CaptureReport& report) {
  const io::CaptureCounts& c = report.counts;
  std::string text = fmt::format("{} packets received ({}), {} delivered, {} lost", c.received(),
                                 base::human_bytes(static_cast<double>(report.bytes)), c.delivered, c.lost);
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  };
  add(c.duplicates, "duplicated");
  add(c.conflicts, "with the counter of another packet");
  add(c.late, "too late");
  add(c.damaged, "damaged");
  add(c.foreign, "from another sender");
  add(c.unknown_stream, "of unknown streams");
  add(c.unconfirmed, "with counters far from the others");
  add(c.overrun, "dropped because the output was too slow");
  add(report.kernel_drops, "dropped by the kernel");
  const double bits = 8 * static_cast<double>(report.bytes);
  text += fmt::format("; counters {} to {}, {:.3g} Gbit/s", report.first, report.last,
                      1e-9 * bits / std::max(1e-9, report.seconds));
  text +=
      fmt::format(", {:.3g} Gbit per second of processor time", 1e-9 * bits / std::max(1e-9, report.processor_seconds));
  return text;
}

void write_header(std::optional<io::PsrdadaHeader> header, const io::Capture& capture, io::OutputStream& out) {
  if (!header) return;
  if (!header->start.known()) header->start = capture.start();
  const std::string text = io::psrdada_text(*header);
  out.write(text.data(), text.size());
}

// Ends with the data written so far: a regular file is cut after the last complete block.
void capture_packets(const CaptureCommand& command) {
  io::CaptureOptions options = command.options;
  options.format = io::packet_format(command.format);
  if (command.payload > 0) options.format.payload = command.payload;
  if (command.per_second > 0) options.format.per_second = command.per_second;
  if (options.format.kind == io::PacketKind::vdif && !command.header.empty())
    mistake("--header: VDIF frames have their own headers");
  if (options.streams > 1 && !command.header.empty())
    mistake("--header: a PSRDADA file holds one stream; write raw packets (see docs/capture.md)");
  std::optional<io::PsrdadaHeader> header;  // a defect is reported before packets are awaited
  if (!command.header.empty()) header = io::read_psrdada_lines(command.header);
  options.window = command.window;
  options.longest_gap = command.longest_gap;
  options.packets = command.packets;
  const io::UdpAddress address = io::udp_address(command.address);
  io::Capture capture(address, command.buffer, options);
  if (capture.report().buffer < command.buffer && !command.quiet) {
    fmt::print(stderr, "ridge: the kernel holds {} of packets, not the {} of --buffer (sysctl net.core.rmem_max)\n",
               base::human_bytes(static_cast<double>(capture.report().buffer)),
               base::human_bytes(static_cast<double>(command.buffer)));
  }
  if (!capture.begin()) {
    throw Error(ErrorKind::unavailable,
                fmt::format("no packet arrived at {} within {} s (--idle)", address.text(), options.idle));
  }
  const StopSignals signals;
  const bool in_place = command.out != "-" && !io::is_ring(command.out);
  io::OutputStream out(command.out, in_place);
  const bool regular = !out.is_pipe();
  if (regular) out.go_on_at(0);
  write_header(header, capture, out);
  const std::uint64_t header_end = out.position();
  std::string flags = "byte,bytes,counter,stream\n";
  std::string failure;
  std::uint64_t flagged = 0;
  try {
    capture.run(
        out, StopSignals::came(),
        [&](const io::LostRun& run) {
          flagged += run.bytes;
          if (!command.flags.empty())
            flags += fmt::format("{},{},{},{}\n", run.byte, run.bytes, run.counter, run.stream);
        },
        [&](const io::CaptureReport& report) { show_status([&] { return json_of(report); }); });
    out.finish();
  } catch (const Error& error) {
    failure = error.what();
  }
  const io::CaptureReport& report = capture.report();
  if (!failure.empty() && regular) {
    out.go_on_at(header_end + report.written);
    failure += fmt::format("; the file ends after the {} bytes of complete blocks", report.written);
  }
  if (!command.flags.empty()) base::write_file(command.flags, flags);
  if (!command.report.empty()) base::write_file(command.report, json_of(report).dump(2) + "\n");
  show_status([&] { return json_of(report); }, true);
  if (!command.quiet) fmt::print(stderr, "{}\n", text_of(report));
  if (!failure.empty()) throw Error(ErrorKind::io, failure);
  if (!report.ended.empty()) throw Error(ErrorKind::io, "capture ended: " + report.ended);
}

void replay_file(CaptureCommand command) {
  if (!command.out.empty()) mistake("--replay sends packets: it needs no output");
  io::PacketFormat format = io::packet_format(command.format);
  if (command.payload > 0) format.payload = command.payload;
  command.replay.seed = command.seed;
  command.replay.jump_at = command.jump_at;
  command.replay.jump_by = command.jump_by;
  const ReplayCounts counts = replay(io::udp_address(command.address), format, command.options.streams, command.replay);
  base::Json json;
  json["packets"] = counts.packets;
  json["lost"] = counts.lost;
  json["duplicated"] = counts.duplicated;
  json["reordered"] = counts.reordered;
  json["damaged"] = counts.damaged;
  json["from_second"] = counts.from_second;
  json["sent"] = counts.sent;
  if (!command.report.empty()) base::write_file(command.report, json.dump(2) + "\n");
  if (!command.quiet) {
    fmt::print(
        stderr,
        "{} packets: {} sent, {} lost on purpose, {} duplicated, {} reordered, {} damaged, {} by a second sender\n",
        counts.packets, counts.sent, counts.lost, counts.duplicated, counts.reordered, counts.damaged,
        counts.from_second);
  }
}

void add_replay_options(Command& command, const std::shared_ptr<CaptureCommand>& options) {
  ReplayOptions& replay = options->replay;
  const Option file = command.option("--replay", replay.file, "Send this file as packets to ADDRESS (loopback only)")
                          .value_name("FILE")
                          .reads();
  const auto share = [&](const char* name, double& value, const char* help) {
    command.option(name, value, help).between(0, 0.5).only_with(file);
  };
  share("--loss", replay.loss, "--replay: share of packets that are not sent");
  share("--duplicate", replay.duplicate, "--replay: share of packets that are sent twice");
  share("--reorder", replay.reorder, "--replay: share of packets that are sent up to --depth packets later");
  share("--damage", replay.damage, "--replay: share of packets that are followed by a packet that is too short");
  share("--second-sender", replay.second, "--replay: share of packets that are sent again from another port");
  command.option("--depth", replay.depth, "--replay: longest delay of --reorder, in packets")
      .shows_default()
      .between(1, 65536);
  command.option("--gbits", replay.rate, "--replay: rate in Gbit/s (0: as fast as possible)")
      .shows_default()
      .between(0, 1000);
  command.flag("--join", replay.join, "--replay: pass several packets to the kernel per call (UDP_SEGMENT)");
  command.option("--seed", options->seed, "--replay: seed of the random choices").shows_default();
  command.option("--jump-at", options->jump_at, "--replay: number of the first packet whose counter jumps ahead");
  command.option("--jump-by", options->jump_by, "--replay: size of the jump, in counters (VDIF: seconds)");
}

}  // namespace

void add_capture(Command& program) {
  Command& command = program.subcommand("capture", "Receive UDP packets; order them, count and flag every loss");
  command.footer(
      "\nExamples:\n"
      "  ridge capture udp://127.0.0.1:4001 obs.vdif --format vdif --streams 2 --seconds 60\n"
      "  ridge capture 127.0.0.1:4001 ring:obs --format counter --header obs.txt --flags lost.csv\n"
      "  ridge capture 127.0.0.1:4001 --replay obs.vdif --format vdif --loss 0.001 --gbits 2\n"
      "\nFormats: counter (64-bit little-endian packet number, then samples), vdif (frames, stored whole), spead "
      "(heaps of\n"
      "equal size), or a text file (docs/capture.md). The output has one payload per counter and stream, in order. "
      "Lost\n"
      "packets are zeros (VDIF: frames marked invalid), listed in --flags and marked in rings. The capture ends after\n"
      "--seconds, --packets, --idle seconds of silence, or SIGINT; the exit code is 1 if the output failed or the "
      "counter\n"
      "jumped.");
  auto options = std::make_shared<CaptureCommand>();
  io::CaptureOptions& capture = options->options;
  command.option("address", options->address, "Address to receive at: udp://127.0.0.1:4001").required();
  command.option("out", options->out, "Output: a file, - or ring:NAME").writes();
  command.option("--format", options->format, "counter, vdif, spead, or a file that describes the packets")
      .shows_default();
  command.option("--streams", capture.streams, "Streams, numbered from 0 (VDIF threads)")
      .shows_default()
      .between(1, 4096);
  command.option("--payload", options->payload, "Bytes of samples per packet (0: as the first packet)")
      .shows_default()
      .between(0, 65507);
  command.option("--frames-per-second", options->per_second, "VDIF without sample rate: frames per second and thread")
      .between(0, 1 << 24);
  command.option("--window", options->window, "Number of packets by which a packet may be late")
      .shows_default()
      .between(1, 1 << 20);
  command
      .option("--longest-gap", options->longest_gap,
              "Packets that may be lost at once; a larger jump of the counter ends the capture")
      .shows_default()
      .between(1, 1e12);
  command.option("--block", capture.slots, "Packets per stream and block (0: about 4 MiB)")
      .shows_default()
      .between(0, 1 << 20);
  command.bytes("--memory", capture.memory, "Memory for blocks that wait for the output (default 256M)");
  command.bytes("--buffer", options->buffer, "Size of the kernel's receive buffer (default 128M)");
  command.option("--seconds", capture.seconds, "Time limit (0: none)").shows_default().between(0, 1e9);
  command.option("--packets", options->packets, "Limit of received packets (0: none)").shows_default();
  command.option("--idle", capture.idle, "Seconds without a packet after which the capture ends")
      .shows_default()
      .between(0.1, 1e9);
  command
      .option(
          "--method", [options](const std::string& text) { options->options.ring = text == "ring"; },
          "Receive by a socket, or from a ring that the kernel fills (AF_PACKET, needs CAP_NET_RAW)")
      .one_of({"socket", "ring"});
  command.option("--header", options->header, "PSRDADA header to write first; UTC_START is added").reads();
  command.option("--flags", options->flags, "Write the lost ranges: byte, bytes, counter, stream").writes();
  command.option("--report", options->report, "Write all counts as JSON").writes();
  add_replay_options(command, options);
  command.flag("--quiet", options->quiet, "Do not print the final report");
  command.runs([options] {
    if (!options->replay.file.empty()) return replay_file(*options);
    if (options->out.empty()) mistake("capture: needs an output: a file, - or ring:NAME (see ridge capture --help)");
    capture_packets(*options);
  });
}

}  // namespace ridge::cli
