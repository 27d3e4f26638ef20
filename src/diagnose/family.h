// What a family of causes gives: its opinions on a finding.
//
// A family is one file with one function. It stays silent where it has no
// business; where it was a suspect it says why not; where it applies it says so
// with its evidence. catalogue.cc lists the families and picks the cause.
#pragma once

#include <string>
#include <vector>

#include "diagnose/facts.h"

namespace nanscope::diagnosis {

struct Opinion {
  enum class Stand { kRuledOut, kLikely, kCertain };

  Stand stand = Stand::kRuledOut;
  std::string id;
  std::string sentence;               // the cause; or, ruled out, why not (no full stop)
  std::vector<std::string> evidence;  // empty ones are dropped
  // Causes that this one lies behind: where it is likely, they are only how it showed.
  std::vector<std::string> explains = {};
  // The argument of the op that is blamed: only if the failing element becomes finite with it
  // mended can the cause be certain. Empty: any of them.
  std::string mends = {};
  std::string title = {};  // instead of that of the id
};

using Opinions = std::vector<Opinion>;
using Family = void (*)(const Facts&, Opinions&);

[[nodiscard]] inline Opinion::Stand stand_of(Proof proof) {
  return proof == Proof::kYes        ? Opinion::Stand::kCertain
         : proof == Proof::kPossible ? Opinion::Stand::kLikely
                                     : Opinion::Stand::kRuledOut;
}

}  // namespace nanscope::diagnosis
