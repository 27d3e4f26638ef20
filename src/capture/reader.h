// Reads a capture, of this machine or another, whole or cut off.
//
// A cut-off tail (the program was killed, the disk was full) costs only the record
// it cut: the rest is returned with `complete` false. Anything else that is not as
// written is refused with one sentence. Hostile bytes cost bounded time and memory.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "records/capture.h"

namespace nanscope {

[[nodiscard]] Result<Capture> read_capture(const std::string& path);
// The same from memory; `name` is used in messages.
[[nodiscard]] Result<Capture> parse_capture(std::string_view bytes, const std::string& name);
// The bytes of a regular file that is small enough to be a capture.
[[nodiscard]] Result<std::string> read_capture_bytes(const std::string& path);

}  // namespace nanscope
