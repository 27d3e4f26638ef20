// A change of the program's source that would mend it.
#pragma once

#include <string>
#include <vector>

namespace nanscope {

// A patch of the source that may be the right one.
struct Fix {
  std::string id;    // clamp_before_log
  std::string diff;  // unified, for patch -p1; of all files
  std::vector<std::string> files;
  std::string explanation;
  bool changes_training = false;
  bool workaround = false;  // it hides the fault, and is all there is
  bool applied = false;
};

}  // namespace nanscope
