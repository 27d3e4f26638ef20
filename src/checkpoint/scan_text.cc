#include "checkpoint/scan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "checkpoint/text_table.h"
#include "diagnose/phrase.h"
#include "report/paint.h"
#include "report/unicode.h"

namespace nanscope::checkpoint {
namespace {

using report::Paint;

constexpr std::size_t kMostBadRows = 20;
constexpr std::size_t kFewestRows = 8;
constexpr std::size_t kMostLines = 5;  // of things that stand below the table

std::string count_of(std::size_t count, std::string_view noun) {
  return plural(static_cast<std::int64_t>(count), noun);
}

// ---------------------------------------------------------------- the answer
std::string bad_answer(const ScanCounts& counts, const TensorRow& worst, std::size_t files,
                       const ScanResult& result) {
  const Census& census = worst.facts->census;
  const std::string where =
      files > 1 ? " in " + report::safe(result.opened.checkpoints[worst.file].path) : "";
  const std::string elements =
      fmt::format("{} of {}: {}; the first at {}", grouped(census.non_finite()),
                  count_of(static_cast<std::size_t>(census.elements), "element"),
                  kinds_of_bad(census), bracketed(worst.facts->bad_index));
  if (counts.tensors == 1)
    return fmt::format("{} holds NaN or Inf: {}", shown_name(*worst.tensor), elements);
  return fmt::format("{} of {} {} NaN or Inf; worst: {}{} ({})",
                     grouped(static_cast<std::int64_t>(counts.bad)),
                     count_of(counts.tensors, "tensor"), counts.bad == 1 ? "holds" : "hold",
                     shown_name(*worst.tensor), where, elements);
}

std::string answer(const ScanResult& result, const ScanCounts& counts,
                   const std::vector<TensorRow>& rows, const Paint& paint) {
  const std::size_t files = result.opened.checkpoints.size();
  if (counts.bad > 0) {
    std::string text = paint.error(bad_answer(counts, rows[0], files, result)) + "\n";
    if (counts.left_out > 0)
      text += paint.warning(count_of(counts.left_out, "tensor") + " could not be read.") + "\n";
    return text;
  }
  if (counts.left_out > 0 || (!result.opened.errors.empty() && files > 0))
    return paint.warning(fmt::format(
               "NOT FULLY READ: no NaN or Inf in {}, but {} not be read.",
               count_of(counts.tensors - counts.left_out, "tensor"),
               counts.left_out > 0 ? count_of(counts.left_out, "other") + " could"
                                   : count_of(result.opened.errors.size(), "file") + " could")) +
           "\n";
  if (files == 0) return "";
  if (counts.tensors == 0) return "There is no tensor in it.\n";
  if (counts.tensors == 1) return "The one tensor is finite.\n";
  return fmt::format("All {} are finite.\n", count_of(counts.tensors, "tensor"));
}

// ---------------------------------------------------------------- the table
std::string count_cell(std::int64_t count) { return count == 0 ? "-" : grouped(count); }

// In powers of two, rounded down.
std::string room_cell(const SurveyedTensor& facts) {
  const std::optional<double> room = float16_room(facts);
  if (!room) return "-";
  return *room < 1 ? "none" : fmt::format("2^{:.0f}", std::floor(std::log2(*room)));
}

// The name of each file; where several have the same, their way from the folder that all share.
std::vector<std::string> names_of(const std::vector<Checkpoint>& files) {
  const auto folder_of = [](std::string_view path) { return path.substr(0, path.rfind('/') + 1); };
  std::string_view shared = folder_of(files[0].path);
  std::map<std::string_view, int> times;
  for (const Checkpoint& file : files) {
    const std::string_view path = file.path;
    ++times[path.substr(path.rfind('/') + 1)];
    while (!path.starts_with(shared)) shared = folder_of(shared.substr(0, shared.size() - 1));
  }
  std::vector<std::string> names;
  for (const Checkpoint& file : files) {
    const std::string_view path = file.path;
    const std::string_view name = path.substr(path.rfind('/') + 1);
    names.push_back(report::safe(times[name] > 1 ? path.substr(shared.size()) : name));
  }
  return names;
}

// `file` is empty if there is but one.
Cells cells_of(const TensorRow& row, const std::string& file) {
  const SurveyedTensor& facts = *row.facts;
  const Census& census = facts.census;
  Cells cells{shown_name(*row.tensor),
              std::string(row.tensor->type.name),
              bracketed(row.tensor->sizes),
              count_cell(census.nan),
              count_cell(census.pos_inf + census.neg_inf),
              count_cell(census.subnormals),
              facts.has_extremes ? fmt::format("{:.4g}", census.least) : "-",
              facts.has_extremes ? fmt::format("{:.4g}", census.most) : "-",
              room_cell(facts)};
  if (!file.empty()) cells.insert(cells.begin() + 3, file);
  return cells;
}

std::string table(const std::vector<TensorRow>& rows, std::size_t count, const ScanResult& result,
                  const ScanTextOptions& options, const Paint& paint) {
  const bool with_files = result.opened.checkpoints.size() > 1;
  std::vector<Cells> lines{
      {"tensor", "type", "shape", "NaN", "Inf", "subnormal", "min", "max", "fp16 room"}};
  if (with_files) lines[0].insert(lines[0].begin() + 3, "file");
  const std::vector<std::string> names = names_of(result.opened.checkpoints);
  for (std::size_t i = 0; i < count; ++i)
    lines.push_back(cells_of(rows[i], with_files ? names[rows[i].file] : ""));

  std::string text;
  const std::vector<std::string> printed =
      lines_of_table(lines, with_files ? 4 : 3, options.columns);
  for (std::size_t line = 0; line < printed.size(); ++line) {
    const bool is_bad = line > 0 && rows[line - 1].facts->is_bad();
    text += (line == 0 ? paint.faint(printed[line])
             : is_bad  ? paint.error(printed[line])
                       : printed[line]) +
            "\n";
  }
  return text;
}

std::string folded(const ScanCounts& counts, std::size_t rows, std::size_t shown) {
  const std::size_t bad_left = counts.bad > shown ? counts.bad - shown : 0;
  const std::size_t others = rows - shown - bad_left;
  if (bad_left > 0)
    return fmt::format("  ... and {} more with NaN or Inf, {} without; -v lists all\n", bad_left,
                       others);
  return others > 0 ? fmt::format("  ... and {} more without NaN or Inf; -v lists all\n", others)
                    : "";
}

// ---------------------------------------------------------------- below the table
std::string left_out_text(const ScanResult& result, bool verbose) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const LeftOutRow& row : left_out_of(result)) by_reason[row.why].push_back(row.name);
  std::string text;
  for (const auto& [why, names] : by_reason) {
    text += fmt::format("Not read: {} ({}", count_of(names.size(), "tensor"), report::safe(why));
    const std::size_t most = verbose ? names.size() : 1;
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
      text += fmt::format("{} {}", i == 0 ? ":" : ",", report::safe(names[i]));
    text += names.size() > most ? ", ...)\n" : ")\n";
  }
  return text;
}

std::string odd_numbers_text(const ScanResult& result, bool verbose) {
  std::vector<std::string> lines;
  for (const Checkpoint& checkpoint : result.opened.checkpoints)
    for (const OddNumber& odd : checkpoint.contents.odd_numbers)
      lines.push_back(fmt::format("{} = {}", report::safe(odd.name), odd.value));
  if (lines.empty()) return {};
  const std::size_t shown = verbose ? lines.size() : std::min(lines.size(), kMostLines);
  std::string text = "Not counted, plain numbers that are not finite: ";
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + lines[i];
  return text + (shown < lines.size() ? ", ...\n" : "\n");
}

std::string footer(const ScanResult& result) {
  const std::vector<Checkpoint>& all = result.opened.checkpoints;
  if (all.empty()) return {};
  std::uint64_t bytes = 0;
  for (const Checkpoint& checkpoint : all) bytes += checkpoint.bytes;
  std::string text =
      all.size() == 1 ? fmt::format("{}: {}, {}", report::safe(all[0].path), all[0].contents.format,
                                    byte_count(static_cast<std::int64_t>(bytes)))
                      : fmt::format("{}, {}", count_of(all.size(), "file"),
                                    byte_count(static_cast<std::int64_t>(bytes)));
  if (result.opened.passed_over > 0)
    text += fmt::format("; {} passed over, no checkpoints",
                        count_of(result.opened.passed_over, "other file"));
  text += fmt::format("; {} of numbers read in {:.2f} s",
                      byte_count(static_cast<std::int64_t>(result.bytes)), result.seconds);
  if (result.seconds > 0 && result.bytes > 100'000'000)
    text += fmt::format(", {:.1f} GB/s", static_cast<double>(result.bytes) / 1e9 / result.seconds);
  return text + "\n";
}

}  // namespace

std::string shown_name(const StoredTensor& tensor) {
  return tensor.name.empty() ? "the array" : report::safe(tensor.name);
}

std::string kinds_of_bad(const Census& census) {
  std::string text;
  const auto add = [&text](std::int64_t count, std::string_view what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(count), what);
  };
  add(census.nan, "NaN");
  add(census.pos_inf, "+Inf");
  add(census.neg_inf, "-Inf");
  return text;
}

std::string scan_text(const ScanResult& result, const ScanTextOptions& options) {
  const Paint paint(options.color);
  const ScanCounts counts = counts_of(result);
  const std::vector<TensorRow> rows = rows_by_badness(result);
  std::string text = answer(result, counts, rows, paint);
  if (options.quiet) return text;
  const std::size_t wanted =
      options.verbose ? rows.size() : std::max(std::min(counts.bad, kMostBadRows), kFewestRows);
  const std::size_t shown = std::min(rows.size(), wanted);
  if (shown > 0) {
    text += "\n" + table(rows, shown, result, options, paint);
    text += folded(counts, rows.size(), shown) + "\n";
  }
  text += left_out_text(result, options.verbose);
  text += odd_numbers_text(result, options.verbose);
  return text + footer(result);
}

}  // namespace nanscope::checkpoint
