#include "report/ranks_as_one.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "report/merge.h"

namespace nanscope {
namespace {

bool is_same_run(const Program& a, const Program& b) {
  return a.rank && b.rank && a.world_size == b.world_size && a.argv == b.argv;
}

bool is_same_process(const Program& a, const Program& b) {
  return a.rank == b.rank && a.host == b.host && a.pid == b.pid;
}

std::size_t ranks_of(const std::vector<Diagnosed>& captures) {
  std::set<int> ranks;
  for (const Diagnosed& one : captures)
    if (one.capture.program.rank) ranks.insert(*one.capture.program.rank);
  return ranks.size();
}

Diagnosed together(const std::vector<Diagnosed>& ranks) {
  std::vector<CaptureOfRank> captures;
  for (const Diagnosed& one : ranks) captures.push_back({one.capture, one.name});
  return diagnosed(merge(std::move(captures)));
}

void add_run(std::vector<Diagnosed> ranks, std::vector<Diagnosed>& all) {
  if (ranks_of(ranks) < 2) {
    std::move(ranks.begin(), ranks.end(), std::back_inserter(all));
    return;
  }
  Diagnosed run = together(ranks);
  const auto head = std::find_if(ranks.begin(), ranks.end(), [&](const Diagnosed& one) {
    return is_same_process(one.capture.program, run.capture.program);
  });
  if (head != ranks.end()) {
    run.name = head->name;
    ranks.erase(head);
  }
  all.push_back(std::move(run));
  std::move(ranks.begin(), ranks.end(), std::back_inserter(all));
}

}  // namespace

std::vector<Diagnosed> ranks_as_one(std::vector<Diagnosed> captures) {
  std::vector<Diagnosed> all;
  while (!captures.empty()) {
    const Program first = captures.front().capture.program;
    const auto others = std::stable_partition(
        captures.begin() + 1, captures.end(),
        [&](const Diagnosed& one) { return is_same_run(one.capture.program, first); });
    std::vector<Diagnosed> run(std::make_move_iterator(captures.begin()),
                               std::make_move_iterator(others));
    captures.erase(captures.begin(), others);
    add_run(std::move(run), all);
  }
  return all;
}

}  // namespace nanscope
