#include "report/sentence.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "diagnose/phrase.h"
#include "diagnose/received.h"
#include "records/words.h"
#include "report/unicode.h"

namespace nanscope::report {
namespace {

constexpr std::string_view kNoOp = "input data";  // nothing but the host or a backward() read it

}  // namespace

std::string position(const Site& site) {
  if (site.file.empty()) return "(place unknown)";
  if (site.end_col > site.col || site.end_line > site.line)
    return fmt::format("{}:{}:{}", safe(site.file), site.line, site.col + 1);
  return fmt::format("{}:{}", safe(site.file), site.line);
}

std::string in_function(const Site& site) {
  return site.function.empty() ? std::string() : " in " + safe(site.function);
}

std::string deed(const Origin& origin) {
  const std::string value = number(origin.value);
  switch (origin.kind) {
    case OriginKind::kBirth:
      return fmt::format("{} made {}", origin.op, value);
    case OriginKind::kDeclared:
      if (origin.not_spelled) return fmt::format("the program was given the number {}", value);
      return fmt::format("the program writes {} here", value);
    case OriginKind::kImported:
      if (origin.op == kNoOp) return fmt::format("{} came in from outside", value);
      return fmt::format("{} read {} that came in from outside", origin.op, value);
    case OriginKind::kUninitialised:
      return fmt::format("{} gave memory that was never written ({})", origin.op, value);
    case OriginKind::kUnwatched:
      if (origin.reinterpreted || !origin.viewed_as.empty())
        return fmt::format("{} read {} in memory of several types", origin.op, value);
      if (origin.op == kNoOp) return fmt::format("an unwatched kernel made {}", value);
      return fmt::format("{} read {} that an unwatched kernel made", origin.op, value);
    case OriginKind::kReceived:
      if (!origin.collective) return fmt::format("{} brought {}", origin.op, value);
      return fmt::format("received {} in {}", value, call_text(*origin.collective));
  }
  return origin.op;
}

std::string deed(const Finding& finding, const Cause& cause) {
  return finding.forewarning ? cause.title : deed(finding.origin);
}

std::string headline(const Finding& finding, const Cause& cause) {
  const bool by_name = finding.forewarning && finding.origin.site.file.empty();
  const std::string place =
      by_name ? safe(finding.forewarning->name) : position(finding.origin.site);
  return place + ": " + deed(finding, cause);
}

std::string circumstances(const Origin& origin) {
  std::vector<std::string> parts{origin.op};
  if (origin.node) {
    parts[0] += origin.in_backward_code
                    ? fmt::format(", called by {}", *origin.node)
                    : fmt::format(" in {}, the backward of this expression", *origin.node);
  }
  parts.push_back(fmt::format("phase {}", word_of(origin.phase)));
  parts.push_back(fmt::format("step {}", grouped(origin.step)));
  if (origin.rank) parts.push_back(fmt::format("rank {}", *origin.rank));
  if (origin.worker) parts.push_back(fmt::format("worker {}", *origin.worker));
  if (origin.module) parts.push_back("module " + *origin.module);
  return joined(parts, ", ");
}

std::string which_elements(const Origin& origin) {
  std::string text = bad_elements(origin);
  if (!origin.indices.empty() && !origin.indices[0].empty())
    text += "; the first at " + bracketed(origin.indices[0]);
  if (origin.output > 0) text += fmt::format(", in output {}", origin.output);
  return text;
}

}  // namespace nanscope::report
