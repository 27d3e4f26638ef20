// One watched run: findings to the capture as they happen, the whole at the end.
#pragma once

#include <string>
#include <vector>

#include "capture/records.h"
#include "frames.h"

namespace nanscope::torch_adapter {

struct SessionOptions {
  std::string capture_path;
  bool overwrite = false;
  bool keep_capture = false;  // the user named it: written even without a finding
  bool keep_going = false;
  Program program;
};

// Only findings of this module (and what is inside it), or of this file, are told from now on;
// the others are counted. Empty: all.
void keep_to(const std::string& layer, const std::string& file);

// Makes the verdicts of the judge findings of this session. Once per process.
void begin_session(SessionOptions options);

struct SessionEnd {
  Capture capture;
  std::string capture_path;             // empty if none was kept
  std::vector<std::string> complaints;  // what could not be written, a sentence each
};
[[nodiscard]] SessionEnd end_session(int exit_status, Ended ended,
                                     const std::vector<NotWatched>& also_not_watched);
[[nodiscard]] bool error_found();

// A warning of this session; takes the GIL. `stack` is where the program stands.
void add_warning(Forewarning warning, const std::string& op, StackId stack);

}  // namespace nanscope::torch_adapter
