// The directory of a zip file, and its members as bytes.
//
// Stored members are parts of the file; deflated ones are inflated on the way, from their
// beginning on, and never held in memory. A member's name is a key, never a path. Members that
// overlap are refused: with them a small file can stand for any amount of data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "checkpoint/bytes.h"

namespace nanscope::checkpoint {

struct ZipMember {
  std::uint64_t header_offset = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t size = 0;
  std::uint16_t method = 0;
  bool encrypted = false;
};

class Zip {
 public:
  [[nodiscard]] static Result<Zip> open(BytesPtr file);

  using Members = std::map<std::string, ZipMember, std::less<>>;
  [[nodiscard]] const Members& members() const { return members_; }
  [[nodiscard]] bool has(std::string_view name) const { return members_.contains(name); }
  [[nodiscard]] Result<BytesPtr> bytes_of(std::string_view name) const;

 private:
  BytesPtr file_;
  Members members_;
};

}  // namespace nanscope::checkpoint
