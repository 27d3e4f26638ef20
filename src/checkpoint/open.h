// From paths to what lies there: files of any known format, sharded ones, folders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/contents.h"

namespace nanscope::checkpoint {

struct Checkpoint {
  std::string path;
  std::uint64_t bytes = 0;  // on disk
  Contents contents;
};

struct Opened {
  std::vector<Checkpoint> checkpoints;
  std::vector<Error> errors;    // one sentence each, with the path; the others were still opened
  std::size_t passed_over = 0;  // files of a folder that are no checkpoints
};

// A file, an index of files (*.index.json), a distributed checkpoint, or a folder of such.
[[nodiscard]] Opened open_checkpoints(const std::vector<std::string>& paths);

// Any file that is no index, by what it begins with; its name matters little.
[[nodiscard]] Result<Contents> read_checkpoint(const BytesPtr& file);

}  // namespace nanscope::checkpoint
