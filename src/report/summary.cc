#include "report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "diagnose/phrase.h"
#include "report/unicode.h"

namespace nanscope {
namespace {

constexpr std::size_t kMostGaps = 4;  // named in one line
constexpr std::string_view kSpeaker = "nanscope: ";
constexpr const char* kNotFully = "NOT FULLY WATCHED";

std::string gap_text(const NotWatched& gap) {
  std::string text = gap.count > 1
                         ? fmt::format("{} x {}", grouped(gap.count), report::safe(gap.what))
                         : report::safe(gap.what);
  if (!gap.why.empty()) text += fmt::format(" ({})", report::safe(gap.why));
  return text;
}

std::string gaps_text(const Coverage& coverage) {
  std::vector<std::string> parts;
  for (const NotWatched& gap : coverage.not_watched) {
    if (parts.size() == kMostGaps) break;
    parts.push_back(gap_text(gap));
  }
  if (const std::size_t more = coverage.not_watched.size() - parts.size(); more > 0)
    parts.push_back(fmt::format("{} more", grouped(static_cast<std::int64_t>(more))));
  return joined(parts, ", ");
}

std::string amounts(const Coverage& coverage) {
  return fmt::format("{} watched, {} scanned, {}", plural(coverage.ops_watched, "op"),
                     byte_count(coverage.bytes_scanned), plural(coverage.steps, "step"));
}

// "; 2 warnings, 12 notes (-v lists them)"
std::string asides(const Capture& capture) {
  std::vector<std::string> parts;
  if (const auto warnings = findings_of(capture, Level::kWarning); warnings > 0)
    parts.push_back(plural(warnings, "warning"));
  if (const auto notes = findings_of(capture, Level::kNote); notes > 0)
    parts.push_back(plural(notes, "note") + " (-v lists them)");
  return parts.empty() ? std::string() : "; " + joined(parts, ", ");
}

// The parent of children that found an error: that is what the reader must not miss.
Summary of_children(const Capture& capture, const NotWatched& children) {
  Coverage rest = capture.coverage;
  std::erase_if(rest.not_watched,
                [](const NotWatched& gap) { return gap.what == kChildrenWithErrors; });
  const std::string who = children.count > 1
                              ? fmt::format("{} child processes", grouped(children.count))
                              : std::string("a child process");
  // Where the names of their captures may not leave the house, there is none.
  const std::string where = children.why.empty() ? "" : ", told in " + report::safe(children.why);
  return {kSpeaker, fmt::format("{} found an error{}", who, where), ". ",
          fmt::format("In this process itself no NaN or Inf did harm: {}{}.", coverage_text(rest),
                      asides(capture))};
}

std::string ending_text(const Program& program) {
  if (program.ended == Ended::kException) return "the program ended by an exception";
  return fmt::format("the program ended with status {}", program.exit_status.value_or(0));
}

}  // namespace

bool ended_badly(const Capture& capture) {
  const Program& program = capture.program;
  if (program.ended == Ended::kException) return true;
  return program.ended == Ended::kNormally && program.exit_status.value_or(0) != 0;
}

std::int64_t findings_of(const Capture& capture, Level level) {
  return std::count_if(capture.findings.begin(), capture.findings.end(),
                       [&](const Finding& finding) { return finding.level == level; });
}

std::string_view verdict_of(const Capture& capture) {
  if (findings_of(capture, Level::kError) > 0) return "error";
  return capture.coverage.not_watched.empty() && capture.complete ? "clean" : "unknown";
}

std::string coverage_text(const Coverage& coverage) {
  if (coverage.not_watched.empty()) return amounts(coverage) + "; nothing went unwatched";
  return fmt::format("{}; NOT watched: {}", amounts(coverage), gaps_text(coverage));
}

Summary summary_of(const Capture& capture) {
  const Coverage& coverage = capture.coverage;
  if (const std::int64_t errors = findings_of(capture, Level::kError); errors > 0)
    return {kSpeaker, plural(errors, "error"), ". ",
            fmt::format("{}{}.", coverage_text(coverage), asides(capture))};
  for (const NotWatched& gap : coverage.not_watched)
    if (gap.what == kChildrenWithErrors) return of_children(capture, gap);
  if (!coverage.not_watched.empty())
    return {"", kNotFully, ": ",
            fmt::format("nothing bad was seen, but this went unwatched: {}. {}{}.",
                        gaps_text(coverage), amounts(coverage), asides(capture))};
  if (!capture.complete)
    return {"", kNotFully, ": ",
            fmt::format("nothing bad was seen before the record breaks off. {}{}.",
                        amounts(coverage), asides(capture))};
  if (capture.program.mode == "sentinel" && coverage.ops_watched == 0)
    return {kSpeaker, "clean at every look, one a step", ": ",
            fmt::format("loss, gradients, parameters and state were finite for {}{}.",
                        plural(coverage.steps, "step"), asides(capture))};
  if (ended_badly(capture) && findings_of(capture, Level::kNote) > 0)
    return {kSpeaker,
            fmt::format("{}, and no NaN or Inf is known to be why; these were about",
                        ending_text(capture.program)),
            ". ", coverage_text(coverage) + "."};
  return {kSpeaker, "clean. No NaN or Inf did harm", ": ",
          fmt::format("{}{}.", coverage_text(coverage), asides(capture))};
}

std::string summary_line(const Capture& capture) {
  const Summary summary = summary_of(capture);
  return fmt::format("{}{}{}{}", summary.speaker, summary.title, summary.joint, summary.detail);
}

}  // namespace nanscope
