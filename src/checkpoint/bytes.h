// Where the bytes of a checkpoint lie: a file, a part of one, memory, a deflated member of a zip.
//
// Note [Read, not mapped]
// Files are read piece by piece into small buffers. A memory map is hardly faster (by a tenth, for
// a file in the page cache), but it kills the process when the file shrinks meanwhile, as the
// checkpoint of a running training does, and it turns a fault of the disk into a signal instead of
// an answer. What is read this way can also be swapped, inflated and decoded where it lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace nanscope::checkpoint {

// Reads at any place; one for each thread.
class Cursor {
 public:
  virtual ~Cursor() = default;
  // All of `to`, or an error.
  [[nodiscard]] virtual Status read(std::uint64_t offset, std::span<std::byte> to) = 0;
};

class Bytes {
 public:
  virtual ~Bytes() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  // Is any place reached as quickly as any other?
  [[nodiscard]] virtual bool seekable() const { return true; }
  [[nodiscard]] virtual std::unique_ptr<Cursor> cursor() const = 0;
};

using BytesPtr = std::shared_ptr<const Bytes>;

// Regular files only: a pipe or a device is refused.
[[nodiscard]] Result<BytesPtr> open_file(const std::string& path);
[[nodiscard]] BytesPtr in_memory(std::string bytes);

[[nodiscard]] bool fits(std::uint64_t offset, std::uint64_t length, std::uint64_t size) noexcept;
// The part must lie inside (`fits`).
[[nodiscard]] BytesPtr part_of(BytesPtr whole, std::uint64_t offset, std::uint64_t length);

// At most `limit` bytes from `offset` on; fewer where the bytes end.
[[nodiscard]] Result<std::string> text_at(const Bytes& bytes, std::uint64_t offset,
                                          std::uint64_t limit);

// What a reader says of a file that is not what it should be; the path is put before it.
[[nodiscard]] Error damaged(std::string what);

}  // namespace nanscope::checkpoint
