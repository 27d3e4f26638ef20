// Reads and tests by the host: a guard, a habit, or a result.
#include <algorithm>
#include <set>

#include "origin/judge_state.h"

namespace nanscope {

void JudgeState::host_read(const TensorState& tensor, const HostValues& values, bool decides,
                           const Place& place) {
  if (!tensor.kinds.any()) return;
  const std::vector<EventId> ids = blame_tensor(tensor, place);
  remember_host(ids, place);
  host_numbers.read(values, ids, place.line);
  if (decides) remember_read(ids, tensor.requires_grad, place);
}

// Nothing is decided by a copy, and nothing is said of what no op of this run made.
void JudgeState::copied_out(const TensorState& tensor, const HostValues& values) {
  const std::vector<EventId> ids = matching(ledger.events_of(tensor), tensor.kinds);
  if (!ids.empty()) host_numbers.read(values, ids, 0);
}

void JudgeState::remember_host(const std::vector<EventId>& ids, const Place& place) {
  if (backwards > 0) return;
  const bool again = std::any_of(host_reads.begin(), host_reads.end(),
                                 [&](const HostRead& read) { return read.events == ids; });
  if (again) return;
  if (host_reads.size() < kMostHostReads) {
    host_reads.push_back({ids, place});
  } else {
    ++records_dropped;
  }
}

void JudgeState::remember_read(const std::vector<EventId>& ids, bool requires_grad,
                               const Place& place) {
  HostRead read{{}, place};
  for (const EventId id : ids) {
    if (!requires_grad && !events.requires_grad(id)) continue;
    const std::vector<EventId> values = events.look_through(id);
    read.events.insert(read.events.end(), values.begin(), values.end());
  }
  if (read.events.empty()) return remember_other_read(ids, place);
  // One test is seen several times: isnan(x) as the x != x inside it, isfinite(x) as x == x
  // and then abs(x) != inf.
  if (!decisive_reads.empty() && decisive_reads.back().events == read.events &&
      decisive_reads.back().place.line == place.line) {
    return;
  }
  std::set<std::uint32_t> lines;
  for (const EventId id : read.events) {
    if (const Event* event = events.find(id)) lines.insert(event->place.line);
  }
  for (const std::uint32_t line : lines) {
    if (bad_reads_of_line.size() < kMostLines || bad_reads_of_line.contains(line))
      ++bad_reads_of_line[line];
  }
  if (decisive_reads.size() < kMostDecisiveReads) decisive_reads.push_back(std::move(read));
}

// A metric: what came of it shows only when the program ends.
void JudgeState::remember_other_read(const std::vector<EventId>& ids, const Place& place) {
  HostRead read{{}, place};
  for (const EventId id : ids) append(read.events, events.look_through(id));
  if (on_other_read && (backwards > 0 || optimizers > 0)) on_other_read();
  const bool again =
      std::any_of(other_reads.begin(), other_reads.end(),
                  [&](const HostRead& other) { return other.events == read.events; });
  if (again || read.events.empty()) return;
  if (other_reads.size() == kMostDecisiveReads) other_reads.erase(other_reads.begin());
  other_reads.push_back(std::move(read));
}

// What was read bad before this step was skipped and recovered from: the habit of its line.
void JudgeState::healthy_step() {
  ++healthy_steps;
  recovered();
}

void JudgeState::recovered() {
  for (const auto& [line, count] : bad_reads_of_line) {
    if (most_recovered_reads.size() >= kMostLines && !most_recovered_reads.contains(line)) continue;
    most_recovered_reads[line] = std::max(most_recovered_reads[line], count);
  }
  for (const HostRead& read : decisive_reads) fate(read.events, Fate::kHandled);
  decisive_reads.clear();
  other_reads.clear();
  bad_reads_of_line.clear();
}

// Skipped before and recovered, and this time it is not much worse.
bool JudgeState::is_habit(std::uint32_t line, bool abnormal) const {
  const auto before = most_recovered_reads.find(line);
  if (before == most_recovered_reads.end() || before->second == 0) return false;
  const auto now = bad_reads_of_line.find(line);
  const std::int64_t most =
      abnormal ? before->second : std::max<std::int64_t>(8, 3 * before->second);
  return (now == bad_reads_of_line.end() ? 0 : now->second) <= most;
}

}  // namespace nanscope
