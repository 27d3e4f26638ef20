#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/catalogue.h"
#include "diagnose/phrase.h"
#include "records/words.h"
#include "report/excerpt.h"
#include "report/journey.h"
#include "report/paint.h"
#include "report/repair.h"
#include "report/sentence.h"
#include "report/summary.h"
#include "report/table.h"
#include "report/unicode.h"

namespace nanscope {
namespace {

using report::circumstances;
using report::deed;
using report::in_function;
using report::Paint;
using report::position;
using report::safe;
using report::which_elements;

constexpr std::size_t kWidestProse = 100;  // longer lines are hard to read
constexpr std::size_t kMostFullErrors = 3;
constexpr std::size_t kMostFrames = 3;    // "called from", unless verbose
constexpr std::size_t kMostInputs = 6;    // columns of the table, unless verbose
constexpr std::size_t kMostElements = 3;  // rows of failing elements, unless verbose
// Columns for what was done, in the first line: fewer say nothing, and a line that must be longer
// than the terminal has as many.
constexpr std::size_t kLeastDeed = 24;
constexpr std::size_t kWideDeed = 40;

// Collects lines under an indentation.
class Page {
 public:
  explicit Page(const TextOptions& options)
      : options_(options),
        paint_(options.color),
        columns_(std::clamp<std::size_t>(options.columns, 60, 200)) {}

  [[nodiscard]] const Paint& paint() const { return paint_; }
  [[nodiscard]] bool verbose() const { return options_.verbose; }
  [[nodiscard]] std::string_view without_patch() const { return options_.without_patch; }
  [[nodiscard]] std::size_t room(std::size_t indent) const { return columns_ - indent; }

  void title(std::string_view text) { text_ += "\n" + paint_.title(text) + "\n"; }
  void line(std::size_t indent, std::string_view text) {
    if (!text.empty()) text_.append(indent, ' ').append(text);
    text_ += '\n';
  }
  // Text from anywhere: made harmless and wrapped, later lines `hang` columns further in. What
  // `whole` lists, harmless already, is never broken.
  void prose(std::size_t indent, std::string_view text, std::size_t hang = 0,
             const std::vector<std::string>& whole = {}) {
    bool first = true;
    const std::size_t measure = std::min(columns_, kWidestProse) - indent - hang;
    for (const std::string& part : report::wrapped(safe(text), measure, whole)) {
      line(first ? indent : indent + hang, part);
      first = false;
    }
  }
  void bullet(std::size_t indent, std::string_view text) {
    prose(indent, "- " + std::string(text), 2);
  }
  void lines(std::size_t indent, const std::vector<std::string>& all) {
    for (const std::string& one : all) line(indent, one);
  }
  void append(std::string_view text) { text_ += text; }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  const TextOptions options_;
  Paint paint_;
  std::size_t columns_;
  std::string text_;
};

void called_from(const Origin& origin, Page& page) {
  const std::size_t shown = page.verbose() ? origin.stack.size() : kMostFrames;
  // The innermost frame is usually the site itself.
  const bool repeats = !origin.stack.empty() && origin.stack[0].file == origin.site.file &&
                       origin.stack[0].line == origin.site.line;
  std::vector<std::string> frames;
  std::vector<std::string> places;
  for (std::size_t i = repeats ? 1 : 0; i < origin.stack.size(); ++i) {
    const Frame& frame = origin.stack[i];
    if (!frame.own && !page.verbose()) continue;
    frames.push_back(fmt::format("{}:{}", frame.file, frame.line));
    places.push_back(safe(frames.back()));
    if (!frame.function.empty()) frames.back() += " in " + frame.function;  // it may be left out
  }
  const std::size_t more = frames.size() > shown ? frames.size() - shown : 0;
  frames.resize(frames.size() - more);
  if (frames.empty()) return;
  if (more > 0) frames.push_back(fmt::format("{} more", more));
  page.prose(2, "called from " + joined(frames, ", "), 12, places);
}

void first_bad_operation(const Finding& finding, Page& page) {
  const Origin& origin = finding.origin;
  page.title("First Bad Operation");
  page.prose(2, position(origin.site) + in_function(origin.site), 2, {position(origin.site)});
  page.lines(4, report::excerpt(origin.site, page.room(4), page.paint()));
  if (!origin.site.remark.empty()) page.prose(2, origin.site.remark);
  page.prose(2, circumstances(origin), 2);
  page.prose(2, which_elements(origin), 2);
  if (origin.kind == OriginKind::kBirth && !origin.per_element)
    page.prose(2, "(judged for the tensor as a whole, not element by element)");
  if (origin.library_site)
    page.prose(2, "inside " + position(*origin.library_site) + in_function(*origin.library_site), 2,
               {position(*origin.library_site)});
  called_from(origin, page);
}

// " (certain; to blame: the code)"; of what is not known there is nothing to be sure of.
std::string sureness(const Cause& cause) {
  return cause.id == "unknown"
             ? std::string()
             : fmt::format(" ({}; to blame: {})", word_of(cause.certainty), cause.to_blame);
}

void root_cause(const Cause& cause, Page& page) {
  const bool certain = cause.certainty == Certainty::kCertain;
  page.title("Root Cause");
  page.prose(2, cause.title, 2);
  const std::string sure = sureness(cause);
  if (report::columns_of(cause.id + sure) <= page.room(2)) {
    page.line(2, page.paint().error(cause.id) + sure);
  } else {
    page.line(2, page.paint().error(cause.id));
    page.prose(2, sure.substr(1), 1);
  }
  page.prose(2, cause.sentence);
  for (const std::string& line : cause.evidence) page.bullet(4, line);
  if (cause.others.empty() || (certain && !page.verbose())) return;
  page.line(2, certain || cause.id == "unknown" ? "Looked at and dropped:" : "Runners-up:");
  for (const Cause::Other& other : cause.others)
    page.bullet(4, fmt::format("{}: {}", other.id, other.why_not));
}

// What a backward node saved and then reads is one tensor, and one column.
std::vector<TensorFacts> without_twins(const std::vector<TensorFacts>& inputs) {
  std::vector<TensorFacts> kept;
  for (const TensorFacts& tensor : inputs) {
    const bool twin =
        tensor.saved && std::any_of(kept.begin(), kept.end(), [&](const TensorFacts& other) {
          return other.name == tensor.name && other.shape == tensor.shape &&
                 other.name != argument_text(other);
        });
    if (!twin) kept.push_back(tensor);
  }
  return kept;
}

void input_statistics(const Finding& finding, Page& page) {
  page.title("Input Statistics");
  const std::size_t elements = page.verbose() ? finding.origin.indices.size() : kMostElements;
  std::vector<TensorFacts> shown = without_twins(finding.inputs);
  const std::size_t all = shown.size();
  if (!page.verbose() && all > kMostInputs) shown.resize(kMostInputs);
  page.lines(2, report::statistics_table(shown, finding.origin.indices, elements, page.room(2),
                                         page.paint()));
  if (shown.empty()) page.line(2, "No inputs were recorded.");
  const auto hidden = static_cast<std::int64_t>(all - shown.size());
  if (hidden + finding.inputs_left_out > 0)
    page.line(2, fmt::format("and {}{}", plural(hidden + finding.inputs_left_out, "more input"),
                             hidden > 0 ? " (-v shows them)" : ""));
  for (const TensorFacts& tensor : shown)
    if (!tensor.remark.empty()) {
      const std::string name = tensor.name.empty() ? argument_text(tensor) : tensor.name;
      page.prose(2, fmt::format("{}: {}", in_backticks(name), tensor.remark), 2);
    }
  std::vector<std::string> scalars;
  for (const ScalarFact& scalar : finding.scalars)
    scalars.push_back(scalar.name + " = " + scalar.value);
  if (!scalars.empty()) page.prose(2, "with " + joined(scalars, ", "), 2);

  page.line(0, "");
  page.line(2, "The way it went");
  page.lines(4, report::journey(finding, page.verbose(), page.room(4), page.paint()));
}

void diff(const std::string& text, Page& page) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = safe(text.substr(begin, end - begin));
    if (line.starts_with('+') && !line.starts_with("+++")) line = page.paint().added(line);
    if (line.starts_with('-') && !line.starts_with("---")) line = page.paint().removed(line);
    page.line(4, line);
    begin = end + 1;
  }
}

void fix(const Repair& repair, Page& page) {
  if (!repair.fix) {
    page.title("Fix");
    page.prose(2, repair.verification ? "None." : page.without_patch());
    return;
  }
  const Fix& fix = *repair.fix;
  const std::string name = fix.workaround ? "Workaround" : "Fix";  // that is not one
  page.title(fix.applied ? name + " Applied" : name);
  std::string manner = fix.id;
  if (fix.workaround) manner += " (not a fix: it hides the fault)";
  if (fix.changes_training) manner += " (changes the training)";
  if (!repair.verification) manner += " (a proposal, not verified: `nanscope fix` tries it)";
  page.prose(2, manner, 2);
  page.prose(2, fix.explanation);
  diff(fix.diff, page);
}

void verification(const Repair& repair, Page& page) {
  page.title("Verification");
  if (!repair.verification) {
    page.line(2, "Not run.");
    return;
  }
  const Verification& shown = *repair.verification;
  std::string status = shown.status == "not_run" ? "not run" : shown.status;
  if (status == "not_exercised") status = "not exercised on healthy values";
  if (shown.steps > 0) status += fmt::format(", {} run", plural(shown.steps, "step"));
  page.line(2, status);
  page.prose(2, shown.detail);
  for (const std::string& check : shown.checks) page.bullet(4, check);
}

// What to do next, in one sentence.
std::string advice(const Cause& cause, const Repair& repair) {
  if (repair.fix) {
    const char* const name = repair.fix->workaround ? "workaround" : "patch";
    if (repair.fix->applied) return fmt::format("Done: the {} below is applied.", name);
    if (repair.verification && repair.verification->status == "verified")
      return fmt::format("Do this: take the {} below; it is verified.", name);
    if (repair.verification)
      return fmt::format("Do this: read the {} below; it is not verified.", name);
    return fmt::format("Do this: `nanscope fix`, which tries the {} below.", name);
  }
  if (cause.id == "unknown") return "Do this: look at the values below.";
  return fmt::format("Do this: `nanscope explain {}`.", cause.id);
}

// Editors read the place in it: that is never cut, and what was done is cut to what it leaves.
void first_line(const Finding& finding, Page& page) {
  const std::string word(word_of(finding.level));
  const std::string place = position(finding.origin.site) + ": ";
  const std::size_t taken = report::columns_of(place) + kLeastDeed;
  const std::size_t room = taken <= page.room(20) ? page.room(20) - taken + kLeastDeed : kWideDeed;
  const bool error = finding.level == Level::kError;
  page.line(
      0,
      fmt::format("nanscope: {}: {}", error ? page.paint().error(word) : page.paint().warning(word),
                  page.paint().title(place + report::cut(safe(deed(finding.origin)), room))));
}

void five_parts(const Finding& finding, const Cause& cause, const Repair& repair, Page& page) {
  first_line(finding, page);
  page.prose(2, cause.title + ".", 2);
  page.prose(2, advice(cause, repair), 2);
  first_bad_operation(finding, page);
  root_cause(cause, page);
  input_statistics(finding, page);
  fix(repair, page);
  verification(repair, page);
}

void headline(const Finding& finding, const Cause& cause, Page& page) {
  const Origin& origin = finding.origin;
  std::string times = finding.count > 1 ? fmt::format(" ({} times)", grouped(finding.count)) : "";
  if (!finding.fate.empty()) times += "; " + finding.fate;
  if (!finding.undone.empty()) times += "; undone: " + finding.undone;
  if (!finding.allowed.empty()) times += "; allowed: " + finding.allowed;
  if (finding.forewarning) {  // nothing has happened yet: there is no deed to tell of
    const std::string place = origin.site.file.empty() ? "" : position(origin.site) + ": ";
    page.prose(0,
               fmt::format("{}: {}{}: {}", word_of(finding.level), place, cause.id, cause.sentence),
               2, {position(origin.site)});
    return;
  }
  page.prose(0,
             fmt::format("{}: {}: {}{}", word_of(finding.level), position(origin.site),
                         deed(origin), times),
             2, {position(origin.site)});
  page.prose(2, cause.id + sureness(cause) + ": " + cause.sentence, 2);
}

// The numbers of the findings of one level.
std::vector<std::size_t> of_level(const Capture& capture, Level level) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < capture.findings.size(); ++i)
    if (capture.findings[i].level == level) found.push_back(i);
  return found;
}

void list_notes(const Diagnosed& diagnosed, Page& page) {
  for (const std::size_t i : of_level(diagnosed.capture, Level::kNote))
    headline(diagnosed.capture.findings[i], diagnosed.causes[i], page);
}

void notes(const Diagnosed& diagnosed, Page& page) {
  const std::int64_t all = findings_of(diagnosed.capture, Level::kNote);
  if (all == 0) return;
  if (page.verbose()) {
    list_notes(diagnosed, page);
  } else {
    page.line(0, plural(all, "note") + "; -v lists them.");
  }
}

void errors_and_warnings(const Diagnosed& diagnosed, Page& page) {
  const Capture& capture = diagnosed.capture;
  const std::vector<std::size_t> errors = of_level(capture, Level::kError);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (i > 0) page.line(0, "");
    const Finding& error = capture.findings[errors[i]];
    const Cause& cause = diagnosed.causes[errors[i]];
    if (i < kMostFullErrors || page.verbose())
      five_parts(error, cause, report::repair_of(capture, errors[i]), page);
    else
      headline(error, cause, page);
  }
  const std::vector<std::size_t> warnings = of_level(capture, Level::kWarning);
  if (!errors.empty() && !warnings.empty()) page.line(0, "");
  for (const std::size_t i : warnings) headline(capture.findings[i], diagnosed.causes[i], page);
}

// What was allowed, and what need not have been.
void allowances(const Coverage& coverage, Page& page) {
  for (const Allowance& allowance : coverage.allowed) {
    if (allowance.count == 0) {
      page.prose(0, fmt::format("nanscope: {} was never needed.", safe(allowance.what)), 2);
      continue;
    }
    std::string text = fmt::format("nanscope: {} allowed {}", safe(allowance.what),
                                   plural(allowance.count, "finding"));
    if (!allowance.why.empty()) text += ": " + safe(allowance.why);
    page.prose(0, text, 2);
  }
}

// What the program put there itself: no news, unless somebody asks.
void intended(const Coverage& coverage, Page& page) {
  if (!page.verbose()) return;
  for (const Intended& one : coverage.intended) {
    const std::string fate = one.fate.empty() ? "" : "; " + one.fate;
    page.prose(
        0,
        fmt::format("intended: {}: {} wrote {}{}{}", position(one.site), one.op, number(one.value),
                    one.count > 1 ? fmt::format(" ({} times)", grouped(one.count)) : "", fate),
        2, {position(one.site)});
  }
  if (coverage.intended_more > 0)
    page.line(0, fmt::format("intended: {} more at other places", grouped(coverage.intended_more)));
}

void ranks(const Capture& capture, Page& page) {
  if (capture.ranks.empty()) return;
  page.line(0, "");
  page.line(0, "Ranks");
  std::set<std::string> hosts;
  for (const RankLine& line : capture.ranks)
    if (!line.host.empty()) hosts.insert(line.host);
  for (const RankLine& line : capture.ranks) {
    std::string text = line.rank < 0 ? std::string("a rank") : fmt::format("rank {}", line.rank);
    if (line.pid != 0)
      text += hosts.size() < 2 || line.host.empty()
                  ? fmt::format(" (pid {})", line.pid)
                  : fmt::format(" (pid {} on {})", line.pid, safe(line.host));
    text += ": " + safe(line.sentence);
    if (!line.capture.empty()) text += "; capture " + safe(line.capture);
    page.prose(2, text, 2, {safe(line.capture)});
  }
}

}  // namespace

std::string text_of(const Finding& finding, const TextOptions& options) {
  Page page(options);
  five_parts(finding, diagnose(finding), {}, page);
  return page.take();
}

std::string headline_of(const Finding& finding, const TextOptions& options) {
  Page page(options);
  headline(finding, diagnose(finding), page);
  return page.take();
}

std::string text_report(const Diagnosed& diagnosed, const TextOptions& options) {
  Page page(options);
  errors_and_warnings(diagnosed, page);
  const Capture& capture = diagnosed.capture;
  if (findings_of(capture, Level::kError) == 0) {
    page.append(summary_line(capture) + "\n");
    if (options.verbose || ended_badly(capture)) list_notes(diagnosed, page);
    intended(capture.coverage, page);
    allowances(capture.coverage, page);
    ranks(capture, page);
    return page.take();
  }
  ranks(capture, page);
  page.line(0, "");
  page.prose(0, "Coverage: " + coverage_text(capture.coverage) + ".", 2);
  if (!capture.complete)
    page.prose(0, "The record breaks off here: the program was killed, or it still runs.");
  notes(diagnosed, page);
  intended(capture.coverage, page);
  allowances(capture.coverage, page);
  return page.take();
}

std::string text_report(const Capture& capture, const TextOptions& options) {
  return text_report(diagnosed(capture), options);
}

}  // namespace nanscope
