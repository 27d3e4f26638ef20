// Where the first bad value came from: which op, which line, which elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/collective.h"
#include "records/kinds.h"
#include "records/site.h"
#include "scan/statistics.h"

namespace nanscope {

struct Origin {
  OriginKind kind = OriginKind::kBirth;
  Phase phase = Phase::kForward;
  std::string op;                   // aten::log
  std::optional<std::string> node;  // LogBackward0
  Site site;                        // the user's own code, innermost frame
  bool in_backward_code = false;    // the site is run by the backward; else it is the forward's
  std::optional<Site> library_site;
  std::vector<Frame> stack;  // innermost first
  std::optional<std::string> module;
  std::int64_t step = 0;
  std::optional<int> rank;
  std::optional<int> worker;
  int output = 0;
  std::vector<Index> indices;  // failing elements, at most eight; the first is the JSON's `index`
  Value value;                 // at the first of them
  std::int64_t nan = 0;
  std::int64_t pos_inf = 0;
  std::int64_t neg_inf = 0;
  std::int64_t numel = 0;
  bool per_element = false;        // judged element by element; else for the tensor as a whole
  bool was_finite = false;         // unwatched: a watched op wrote it before
  bool left_before = false;        // imported, after this run had handed out numbers like it
  bool written_since = false;      // imported: others share its memory, which an op wrote before
  bool from_other_device = false;  // unwatched: another device computed it
  bool reinterpreted = false;      // unwatched: its memory was written as numbers of another type
  std::string viewed_as;           // unwatched: its memory is also viewed as this type
  bool not_spelled = false;        // declared, by a number that the program's text does not spell
  bool discarded = false;          // the program replaced it on purpose: where, a mask, nan_to_num
  std::optional<Collective> collective;  // received: the one that brought it
};

}  // namespace nanscope
