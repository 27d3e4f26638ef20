#include "checkpoint/compare_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "checkpoint/text_table.h"
#include "diagnose/phrase.h"
#include "report/paint.h"
#include "report/unicode.h"

namespace nanscope::checkpoint {
namespace {

using report::Paint;

constexpr std::size_t kRowsOfChanges = 10;

std::size_t count_of_kind(const Comparison& comparison, ChangeKind kind) {
  return static_cast<std::size_t>(
      std::count_if(comparison.changes.begin(), comparison.changes.end(),
                    [kind](const Change& change) { return change.kind == kind; }));
}

std::string count_text(std::size_t count, std::string_view noun) {
  return plural(static_cast<std::int64_t>(count), noun);
}

std::string moved_text(double moved) {
  if (moved == 0) return "-";
  if (!std::isfinite(moved)) return "from zero";
  return moved < 0.995 ? fmt::format("{:.2g} %", 100 * moved) : fmt::format("{:.3g}x", moved);
}

// What became of what is in both.
std::string outcome(const Comparison& comparison, const std::string& since, const Paint& paint) {
  const std::size_t bad = count_of_kind(comparison, ChangeKind::kWentBad);
  if (bad > 0)
    return paint.error(fmt::format("{} went bad since {}: {}{}", count_text(bad, "tensor"), since,
                                   report::safe(comparison.changes[0].name),
                                   bad > 1 ? ", ..." : ""));
  const std::size_t moved = count_of_kind(comparison, ChangeKind::kMoved);
  const std::size_t same = count_of_kind(comparison, ChangeKind::kSame);
  const bool other_bad = count_of_kind(comparison, ChangeKind::kStayedBad) +
                             count_of_kind(comparison, ChangeKind::kHealed) >
                         0;
  if (moved + same == 0 && !other_bad)
    return fmt::format("No tensor could be compared with {}.", since);
  if (moved == 0)
    return fmt::format("No tensor went bad since {}; {} the same numbers.", since,
                       same == 1 ? "1 tensor has" : count_text(same, "tensor") + " have");
  const auto most = std::find_if(comparison.changes.begin(), comparison.changes.end(),
                                 [](const Change& x) { return x.kind == ChangeKind::kMoved; });
  return fmt::format("No tensor went bad since {}; {} of {} moved, most of all {} (by {}).", since,
                     grouped(static_cast<std::int64_t>(moved)), count_text(moved + same, "tensor"),
                     report::safe(most->name), moved_text(most->moved));
}

// With what the comparison leaves open: behind a name that ends no sentence, in a line of its own.
std::string headline(const Comparison& comparison, const std::string& against, const Paint& paint) {
  std::string line = outcome(comparison, report::safe(against), paint);
  const std::size_t bad_and_new = static_cast<std::size_t>(
      std::count_if(comparison.changes.begin(), comparison.changes.end(), [](const Change& change) {
        return change.kind == ChangeKind::kOnlyNow && change.now->facts->is_bad();
      }));
  std::string gap = count_of_kind(comparison, ChangeKind::kWentBad) > 0 ? "\n" : " ";
  if (bad_and_new > 0) {
    line +=
        std::exchange(gap, " ") +
        fmt::format("{} not finite and only here.",
                    bad_and_new == 1 ? "1 tensor is" : count_text(bad_and_new, "tensor") + " are");
  }
  if (!comparison.complete) line += gap + "Not all could be read: the rest was not compared.";
  return line + "\n";
}

std::string state_of(const TensorRow* row) {
  if (row == nullptr) return "absent";
  if (row->facts->is_bad()) return kinds_of_bad(row->facts->census);
  return row->facts->left_out || row->facts->error ? "not read" : "finite";
}

std::string words_of(const Change& change) {
  std::string words = name_of(change.kind);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string table_of_changes(const Comparison& comparison, const ScanTextOptions& options,
                             const Paint& paint) {
  std::vector<Cells> rows{{"tensor", "", "then", "now", "moved by", "largest step"}};
  std::size_t shown = 0;
  for (const Change& change : comparison.changes) {
    const bool quiet = change.kind == ChangeKind::kSame || change.kind == ChangeKind::kNotCompared;
    if (quiet && !options.verbose) continue;
    ++shown;
    if (!options.verbose && rows.size() > kRowsOfChanges) continue;
    const bool measured = change.now != nullptr && change.then != nullptr;
    rows.push_back({report::safe(change.name), words_of(change), state_of(change.then),
                    state_of(change.now), measured ? moved_text(change.moved) : "-",
                    change.largest_step > 0 ? number(change.largest_step) : "-"});
  }
  if (rows.size() == 1) return {};
  std::string text = "\n";
  const std::vector<std::string> lines = lines_of_table(rows, 4, options.columns);
  for (std::size_t i = 0; i < lines.size(); ++i)
    text += (i == 0                     ? paint.faint(lines[i])
             : rows[i][1] == "went bad" ? paint.error(lines[i])
                                        : lines[i]) +
            "\n";
  if (shown + 1 > rows.size())
    text += fmt::format("  ... and {} more; -v lists all\n", shown + 1 - rows.size());
  return text;
}

}  // namespace

std::string compare_text(const Comparison& comparison, const std::string& against,
                         const ScanTextOptions& options) {
  const Paint paint(options.color);
  std::string text = headline(comparison, against, paint);
  if (options.quiet) return text;
  return "\n" + text + table_of_changes(comparison, options, paint);
}

}  // namespace nanscope::checkpoint
