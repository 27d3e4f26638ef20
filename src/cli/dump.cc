// nanscope dump: every record of a capture, raw, as one JSON object per line.
//
// Also of a damaged capture: what lies before the damage is printed, then what is wrong.

#include <fmt/format.h>

#include "capture/decode.h"
#include "capture/format.h"
#include "capture/reader.h"
#include "cli/options.h"

namespace nanscope::cli {
namespace {

std::string line_of(const RawFrame& frame, const Manner& manner) {
  const std::string_view name = name_of(frame.type);
  std::string line =
      fmt::format(R"({{"offset":{},"type":{},"length":{})", frame.offset,
                  name.empty() ? std::to_string(static_cast<std::uint32_t>(frame.type))
                               : fmt::format("\"{}\"", name),
                  frame.payload.size());
  if (manner.verbose) line += fmt::format(R"(,"crc":"{:08x}")", frame.crc);
  if (!manner.quiet) {
    const Result<std::string> payload = readable(frame.payload);
    line += payload ? R"(,"payload":)" + payload.value()
                    : fmt::format(R"(,"fault":"{}")", payload.error().message);
  }
  return line + "}\n";
}

Outcome carry_out_dump(const Arguments& arguments, const Terminal&) {
  std::string path;
  Options options(kDump, {"dump [options] CAPTURE"},
                  "  nanscope dump nanscope-train.1234.nsc | jq .payload.origin");
  options.manner_means("without the contents", "with the checksums");
  options.app().add_option("CAPTURE", path, "a .nsc file")->required();
  if (std::optional<Outcome> answer = options.parse(arguments)) return *answer;

  const Result<std::string> bytes = read_capture_bytes(path);
  if (!bytes) return failed(bytes.error());
  Result<FrameWalk> walk = FrameWalk::begin(bytes.value(), path);
  if (!walk) return failed(walk.error());

  Outcome outcome;
  RawFrame frame;
  for (;;) {
    const Result<FrameWalk::Step> step = walk.value().next(frame);
    if (!step) {
      outcome.status = 2;
      outcome.err = "nanscope: " + step.error().message + "\n";
      return outcome;
    }
    if (step.value() == FrameWalk::Step::kCutOff)
      outcome.err = fmt::format("nanscope: {} was cut off after these records.\n", path);
    if (step.value() != FrameWalk::Step::kFrame) return outcome;
    outcome.out += line_of(frame, options.manner());
  }
}

}  // namespace

const Verb kDump{"dump", "Prints every record of a capture as a line of JSON.", carry_out_dump};

}  // namespace nanscope::cli
