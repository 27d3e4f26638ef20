// Where something stands in source code.
#pragma once

#include <string>
#include <vector>

namespace nanscope {

// A place in source code. Lines from 1, columns from 0 in characters, end exclusive.
struct Site {
  std::string file;  // as the user would type it
  int line = 0;
  int end_line = 0;
  int col = 0;
  int end_col = 0;
  std::string code;  // the exact expression; the whole line if columns are unknown
  std::string function;
  std::vector<std::string> source;  // the lines line..end_line as they stood when run
  std::string remark;               // why columns or text are missing; else empty
  std::vector<std::string> before;  // of an origin: a few lines above
  std::vector<std::string> after;   // and below
};

struct Frame {
  std::string file;
  int line = 0;
  std::string function;
  bool own = true;  // the user's code, not a library's
};

}  // namespace nanscope
