// The program that was watched, and how it ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/kinds.h"

namespace nanscope {

struct Program {
  std::vector<std::string> argv;
  std::string python;
  std::string torch;
  std::string mode = "exact";
  std::int64_t pid = 0;
  std::string host;
  std::optional<int> exit_status;  // absent while it runs
  std::optional<Ended> ended;
  std::vector<std::string> devices;  // where its watched ops ran: "cpu, 8 threads"
  std::optional<double> seconds;     // from the beginning of the watch to its end
  // About how many of them the watch itself took, of all threads together; see own_time.h.
  std::optional<double> own_seconds;
  std::optional<int> rank;  // of torch.distributed, if it was begun
  std::optional<int> world_size;
};

}  // namespace nanscope
