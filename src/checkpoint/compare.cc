#include "checkpoint/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "checkpoint/element_stream.h"
#include "checkpoint/worker_threads.h"

namespace nanscope::checkpoint {
namespace {

struct Distance {
  long double difference = 0;  // sums of squares
  long double norm = 0;
  double largest_step = 0;
  bool same = true;  // bit for bit, NaN for NaN

  void add(std::span<const double> now, std::span<const double> then) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (!std::isfinite(now[i]) || !std::isfinite(then[i])) {
        same &= std::isnan(now[i]) ? std::isnan(then[i]) : now[i] == then[i];
        continue;
      }
      const long double step = static_cast<long double>(now[i]) - then[i];
      difference += step * step;
      norm += static_cast<long double>(then[i]) * then[i];
      largest_step = std::max(largest_step, static_cast<double>(std::fabs(step)));
      same &= now[i] == then[i];
    }
  }
};

// What of both was read; the comparison is a matter of reading.
struct Reading {
  std::atomic<std::uint64_t> done_bytes = 0;
  std::uint64_t all_bytes = 0;
};

// Nothing if the two cannot be set side by side.
Result<std::optional<Distance>> distance_of(const StoredTensor& now, const StoredTensor& then,
                                            Reading& reading) {
  ElementStream from_now(now);
  ElementStream from_then(then);
  if (!from_now.possible() || !from_then.possible() ||
      is_complex(now.type.dtype) != is_complex(then.type.dtype))
    return std::optional<Distance>();
  Distance distance;
  for (auto left = static_cast<std::uint64_t>(now.numel()); left > 0;) {
    const auto taken =
        static_cast<std::size_t>(std::min<std::uint64_t>(left, ElementStream::kMostAtOnce));
    const Result<std::span<const double>> a = from_now.next(taken);
    if (!a) return a.error();
    const Result<std::span<const double>> b = from_then.next(taken);
    if (!b) return b.error();
    distance.add(a.value(), b.value());
    left -= taken;
    reading.done_bytes += taken * now.type.width;
  }
  return std::optional(distance);
}

void measure(Change& change, Reading& reading, std::optional<Error>& error) {
  const SurveyedTensor& now = *change.now->facts;
  const SurveyedTensor& then = *change.then->facts;
  if (now.is_bad() || then.is_bad())
    change.kind = !then.is_bad() ? ChangeKind::kWentBad
                  : now.is_bad() ? ChangeKind::kStayedBad
                                 : ChangeKind::kHealed;
  if (now.error || then.error || now.left_out || then.left_out) return;
  if (change.now->tensor->sizes != change.then->tensor->sizes) {
    if (change.kind == ChangeKind::kNotCompared) change.kind = ChangeKind::kReshaped;
    return;
  }
  const Result<std::optional<Distance>> found =
      distance_of(*change.now->tensor, *change.then->tensor, reading);
  if (!found) {
    error = found.error();
    return;
  }
  if (!found.value()) return;
  const Distance& distance = *found.value();
  change.largest_step = distance.largest_step;
  if (distance.difference > 0)
    change.moved = distance.norm > 0
                       ? static_cast<double>(std::sqrt(distance.difference / distance.norm))
                       : std::numeric_limits<double>::infinity();
  if (change.kind == ChangeKind::kNotCompared)
    change.kind = distance.same ? ChangeKind::kSame : ChangeKind::kMoved;
}

bool is_on_both_sides(const Change& change) {
  return change.now != nullptr && change.then != nullptr;
}

// Those that are on both sides, with several threads: a tensor each.
void measure_all(std::vector<Change>& changes, std::vector<std::optional<Error>>& errors,
                 const ByteProgress& progress) {
  Reading reading;
  for (const Change& change : changes)
    if (is_on_both_sides(change))
      reading.all_bytes +=
          static_cast<std::uint64_t>(change.now->tensor->numel()) * change.now->tensor->type.width;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < changes.size(); i = next++)
      if (is_on_both_sides(changes[i])) measure(changes[i], reading, errors[i]);
  };
  std::function<void()> tell;
  if (progress) tell = [&] { progress(reading.done_bytes, reading.all_bytes); };
  run_in_threads(static_cast<unsigned>(std::min<std::size_t>(usual_threads(), changes.size())),
                 work, tell);
}

}  // namespace

const char* name_of(ChangeKind kind) noexcept {
  switch (kind) {
    case ChangeKind::kWentBad:
      return "went_bad";
    case ChangeKind::kStayedBad:
      return "stayed_bad";
    case ChangeKind::kHealed:
      return "healed";
    case ChangeKind::kMoved:
      return "moved";
    case ChangeKind::kSame:
      return "same";
    case ChangeKind::kReshaped:
      return "reshaped";
    case ChangeKind::kOnlyNow:
      return "only_now";
    case ChangeKind::kOnlyThen:
      return "only_then";
    case ChangeKind::kNotCompared:
      return "not_compared";
  }
  return "";
}

Comparison compare(const ScanResult& now, const ScanResult& then, const ByteProgress& progress) {
  Comparison result{.now = rows_by_badness(now), .then = rows_by_badness(then)};
  result.complete = now.opened.errors.empty() && then.opened.errors.empty();
  std::map<std::string_view, const TensorRow*> others;
  for (const TensorRow& row : result.then) others.emplace(row.tensor->name, &row);
  for (const TensorRow& row : result.now) {
    Change change{.kind = ChangeKind::kOnlyNow, .name = row.tensor->name, .now = &row};
    if (const auto found = others.find(row.tensor->name); found != others.end()) {
      change.kind = ChangeKind::kNotCompared;
      change.then = found->second;
      others.erase(found);
    }
    result.changes.push_back(std::move(change));
  }
  for (const auto& [name, row] : others)
    result.changes.push_back(
        {.kind = ChangeKind::kOnlyThen, .name = std::string(name), .then = row});
  std::vector<std::optional<Error>> errors(result.changes.size());
  measure_all(result.changes, errors, progress);
  for (std::size_t i = 0; i < errors.size(); ++i)
    if (errors[i])
      result.errors.push_back(
          {errors[i]->code, fmt::format("{}: {}", result.changes[i].name, errors[i]->message)});
  std::stable_sort(result.changes.begin(), result.changes.end(),
                   [](const Change& a, const Change& b) {
                     return a.kind != b.kind ? a.kind < b.kind : a.moved > b.moved;
                   });
  return result;
}

}  // namespace nanscope::checkpoint
