// The bytes of a capture: one file header, then framed records.
//
//   file    magic[8]  u32 version  u32 crc of the 12 bytes before
//   frame   u32 type  u32 length  u32 crc of the payload  u32 crc of the 12 bytes before
//           payload[length], CBOR
//
// Little endian. A frame is written by one write(), so a program killed at any
// moment leaves whole frames and at most one cut-off tail. The header's own
// checksum tells a tail that was cut off from a length that was damaged.
// docs/capture-format.md is the specification.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nanscope {

inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::string_view kMagic{"\x89NSC\r\n\x1a\n", 8};
inline constexpr std::size_t kFileHeaderBytes = 16;
inline constexpr std::size_t kFrameHeaderBytes = 16;

// Bounds kept by the writer and enforced by the reader.
inline constexpr std::size_t kMostRecordBytes = 8u << 20;
inline constexpr std::size_t kMostFileBytes = 64u << 20;
inline constexpr std::size_t kMostFindings = 10'000;
inline constexpr std::size_t kMostRepairs = 100;  // findings that `fix` was asked about

// Numbers are for ever; a reader skips those it does not know.
enum class RecordType : std::uint32_t {
  kProgram = 1,
  kFinding = 2,
  kCoverage = 3,
  kEnd = 4,
  kProposal = 5,
  kRepair = 6,
  kWithdrawal = 7
};

// The name `dump` shows; empty for an unknown type.
[[nodiscard]] std::string_view name_of(RecordType type) noexcept;

[[nodiscard]] std::uint32_t crc32(std::string_view bytes) noexcept;
[[nodiscard]] std::string file_header(std::uint32_t version = kFormatVersion);
[[nodiscard]] std::string frame_of(RecordType type, std::string_view payload);

struct RawFrame {
  std::size_t offset = 0;  // of its header in the file
  RecordType type{};
  std::uint32_t crc = 0;
  std::string_view payload;  // checked
};

// Walks the frames of a file held in memory. `name` is used in messages only.
class FrameWalk {
 public:
  // Checks the file header.
  [[nodiscard]] static Result<FrameWalk> begin(std::string_view bytes, std::string name);

  enum class Step { kFrame, kEnd, kCutOff };
  // Fills `frame` on kFrame. An error is final.
  [[nodiscard]] Result<Step> next(RawFrame& frame);

 private:
  FrameWalk(std::string_view bytes, std::string name);
  [[nodiscard]] Error damaged() const;

  std::string_view bytes_;
  std::string name_;
  std::size_t offset_ = kFileHeaderBytes;
};

}  // namespace nanscope
