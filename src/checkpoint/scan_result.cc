#include "checkpoint/scan_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

namespace nanscope::checkpoint {
namespace {

std::vector<const StoredTensor*> all_tensors(const Opened& opened) {
  std::vector<const StoredTensor*> tensors;
  for (const Checkpoint& checkpoint : opened.checkpoints)
    for (const StoredTensor& tensor : checkpoint.contents.tensors) tensors.push_back(&tensor);
  return tensors;
}

template <class Fn>
void for_each_tensor(const ScanResult& result, Fn&& fn) {
  std::size_t next = 0;
  for (std::size_t file = 0; file < result.opened.checkpoints.size(); ++file)
    for (const StoredTensor& tensor : result.opened.checkpoints[file].contents.tensors)
      fn(TensorRow{file, &tensor, &result.facts[next++]});
}

// What could not be read of a file is said once.
void move_errors(ScanResult& result) {
  std::set<std::string> said;
  std::vector<Error>& errors = result.opened.errors;
  for_each_tensor(result, [&](const TensorRow& row) {
    if (!row.facts->error) return;
    const std::string& path = result.opened.checkpoints[row.file].path;
    if (said.insert(path).second)
      errors.push_back({row.facts->error->code, fmt::format("{}: {}: {}", path, row.tensor->name,
                                                            row.facts->error->message)});
  });
}

// What comes first when sorted in descending order.
auto badness(const TensorRow& row) {
  const Census& census = row.facts->census;
  const bool only_negative_inf = census.nan == 0 && census.pos_inf == 0;  // as masks have
  return std::tuple(census.non_finite() > 0, !only_negative_inf, census.nan > 0,
                    census.non_finite(), census.largest_magnitude());
}

}  // namespace

ScanResult scan_checkpoints(const std::vector<std::string>& paths, const SurveyOptions& options) {
  const auto begun = std::chrono::steady_clock::now();
  ScanResult result;
  result.opened = open_checkpoints(paths);
  Survey seen = survey(all_tensors(result.opened), options);
  result.facts = std::move(seen.facts);
  result.bytes = seen.bytes;
  move_errors(result);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return result;
}

std::vector<TensorRow> rows_by_badness(const ScanResult& result) {
  std::vector<TensorRow> rows;
  for_each_tensor(result, [&](const TensorRow& row) { rows.push_back(row); });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const TensorRow& a, const TensorRow& b) { return badness(a) > badness(b); });
  return rows;
}

std::vector<LeftOutRow> left_out_of(const ScanResult& result) {
  std::vector<LeftOutRow> all;
  for (std::size_t file = 0; file < result.opened.checkpoints.size(); ++file)
    for (const LeftOut& left_out : result.opened.checkpoints[file].contents.left_out)
      all.push_back({file, left_out.name, left_out.why});
  for_each_tensor(result, [&](const TensorRow& row) {
    if (row.facts->left_out) all.push_back({row.file, row.tensor->name, *row.facts->left_out});
    if (row.facts->error) all.push_back({row.file, row.tensor->name, row.facts->error->message});
  });
  return all;
}

ScanCounts counts_of(const ScanResult& result) {
  ScanCounts counts;
  for_each_tensor(result, [&](const TensorRow& row) {
    ++counts.tensors;
    counts.bad += row.facts->is_bad();
  });
  for (const Checkpoint& checkpoint : result.opened.checkpoints)
    counts.tensors += checkpoint.contents.left_out.size();
  counts.left_out = left_out_of(result).size();
  return counts;
}

std::optional<double> float16_room(const SurveyedTensor& facts) {
  const double largest = facts.census.largest_magnitude();
  if (!facts.has_extremes || largest == 0) return std::nullopt;
  return largest_of(DType::kFloat16) / largest;
}

int exit_status(const ScanResult& result) {
  if (!result.opened.errors.empty()) return 2;
  return counts_of(result).bad > 0 ? 3 : 0;
}

}  // namespace nanscope::checkpoint
