#include "capture/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace nanscope {
namespace {

// High bit set, then a line end of each kind: a transfer that changed text shows at once.

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0u);
    table[i] = crc;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kCrcTable = make_crc_table();

void append_u32(std::string& bytes, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 0xFF);
}

std::uint32_t read_u32(std::string_view bytes, std::size_t offset) noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[offset + i])) << 8 * i;
  return value;
}

void append_own_crc(std::string& header) { append_u32(header, crc32(header)); }

bool has_own_crc(std::string_view header) noexcept {
  return crc32(header.substr(0, 12)) == read_u32(header, 12);
}

}  // namespace

std::string_view name_of(RecordType type) noexcept {
  switch (type) {
    case RecordType::kProgram:
      return "program";
    case RecordType::kFinding:
      return "finding";
    case RecordType::kCoverage:
      return "coverage";
    case RecordType::kEnd:
      return "end";
    case RecordType::kProposal:
      return "proposal";
    case RecordType::kRepair:
      return "repair";
    case RecordType::kWithdrawal:
      return "withdrawal";
  }
  return {};
}

std::uint32_t crc32(std::string_view bytes) noexcept {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char byte : bytes)
    crc = crc >> 8 ^ kCrcTable[(crc ^ static_cast<std::uint8_t>(byte)) & 0xFF];
  return ~crc;
}

std::string file_header(std::uint32_t version) {
  std::string header(kMagic);
  append_u32(header, version);
  append_own_crc(header);
  return header;
}

std::string frame_of(RecordType type, std::string_view payload) {
  std::string frame;
  frame.reserve(kFrameHeaderBytes + payload.size());
  append_u32(frame, static_cast<std::uint32_t>(type));
  append_u32(frame, static_cast<std::uint32_t>(payload.size()));
  append_u32(frame, crc32(payload));
  append_own_crc(frame);
  return frame.append(payload);
}

FrameWalk::FrameWalk(std::string_view bytes, std::string name)
    : bytes_(bytes), name_(std::move(name)) {}

Result<FrameWalk> FrameWalk::begin(std::string_view bytes, std::string name) {
  if (bytes.empty())
    return Error{ErrorCode::kDamaged,
                 name + " is empty: the program ended before anything was recorded."};
  if (bytes.substr(0, kMagic.size()) != kMagic.substr(0, bytes.size()))
    return Error{ErrorCode::kForeign, name + " is not a nanscope capture."};
  if (bytes.size() < kFileHeaderBytes)
    return Error{ErrorCode::kDamaged,
                 name + " was cut off inside its header: nothing was recorded."};
  if (!has_own_crc(bytes.substr(0, kFileHeaderBytes)))
    return Error{ErrorCode::kDamaged, name + " is damaged: its header is not what was written."};
  const std::uint32_t version = read_u32(bytes, kMagic.size());
  if (version > kFormatVersion)
    return Error{
        ErrorCode::kNewer,
        fmt::format("{} was written by a newer nanscope (format {}; this one reads up to {}). "
                    "Update nanscope to read it.",
                    name, version, kFormatVersion)};
  if (version == 0)
    return Error{ErrorCode::kDamaged,
                 name + " is damaged: it claims format 0, which never existed."};
  return FrameWalk(bytes, std::move(name));
}

Error FrameWalk::damaged() const {
  return {ErrorCode::kDamaged, fmt::format("{} is damaged: the record at byte {} is not what was "
                                           "written. `nanscope dump` shows what lies before it.",
                                           name_, offset_)};
}

Result<FrameWalk::Step> FrameWalk::next(RawFrame& frame) {
  const std::string_view rest = bytes_.substr(offset_);
  if (rest.empty()) return Step::kEnd;
  // A machine that lost power may leave a tail of zeros.
  if (std::all_of(rest.begin(), rest.end(), [](char byte) { return byte == 0; }))
    return Step::kCutOff;
  if (rest.size() < kFrameHeaderBytes) return Step::kCutOff;
  if (!has_own_crc(rest.substr(0, kFrameHeaderBytes))) return damaged();
  const std::size_t length = read_u32(rest, 4);
  if (length > kMostRecordBytes) return damaged();
  if (rest.size() - kFrameHeaderBytes < length) return Step::kCutOff;

  frame.offset = offset_;
  frame.type = static_cast<RecordType>(read_u32(rest, 0));
  frame.crc = read_u32(rest, 8);
  frame.payload = rest.substr(kFrameHeaderBytes, length);
  if (crc32(frame.payload) != frame.crc) return damaged();
  offset_ += kFrameHeaderBytes + length;
  return Step::kFrame;
}

}  // namespace nanscope
