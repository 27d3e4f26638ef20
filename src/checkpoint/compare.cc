#include "checkpoint/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "checkpoint/element_stream.h"

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

// Nothing if the two cannot be set side by side.
Result<std::optional<Distance>> distance_of(const StoredTensor& now, const StoredTensor& then) {
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
  }
  return std::optional(distance);
}

void measure(Change& change, std::optional<Error>& error) {
  const TensorFacts& now = *change.now->facts;
  const TensorFacts& then = *change.then->facts;
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
      distance_of(*change.now->tensor, *change.then->tensor);
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

// Those that are on both sides, with several threads: a tensor each.
void measure_all(std::vector<Change>& changes, std::vector<std::optional<Error>>& errors) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < changes.size(); i = next++)
      if (changes[i].now != nullptr && changes[i].then != nullptr) measure(changes[i], errors[i]);
  };
  std::vector<std::thread> helpers;
  const unsigned wanted = std::min(std::max(1U, std::thread::hardware_concurrency()), 32U);
  for (unsigned i = 1; i < wanted && i < changes.size(); ++i) {
    try {
      helpers.emplace_back(work);
    } catch (const std::system_error&) {
      break;  // no more threads to be had
    }
  }
  work();
  for (std::thread& helper : helpers) helper.join();
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

Comparison compare(const ScanResult& now, const ScanResult& then) {
  Comparison result{.now = rows_by_badness(now), .then = rows_by_badness(then)};
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
  measure_all(result.changes, errors);
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
