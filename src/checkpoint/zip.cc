#include "checkpoint/zip.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "checkpoint/inflate.h"
#include "checkpoint/little_endian.h"

namespace nanscope::checkpoint {
namespace {

constexpr std::uint32_t kEndMark = 0x06054b50;
constexpr std::uint32_t kEnd64Mark = 0x06064b50;
constexpr std::uint32_t kEnd64LocatorMark = 0x07064b50;
constexpr std::uint32_t kEntryMark = 0x02014b50;
constexpr std::uint32_t kLocalMark = 0x04034b50;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kEntrySize = 46;
constexpr std::size_t kLocalSize = 30;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
constexpr std::uint64_t kLongestComment = 65535;
constexpr std::uint64_t kLargestDirectory = 64 << 20;

struct DirectoryPlace {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// Where the end of the directory says that a 64-bit one is, its numbers hold.
Result<DirectoryPlace> place_in_zip64(const Bytes& file, std::uint64_t locator_at) {
  const Result<std::string> locator = text_at(file, locator_at, 20);
  if (!locator) return locator.error();
  if (number_at<std::uint32_t>(locator.value(), 0) != kEnd64LocatorMark)
    return damaged("its directory of 64 bits is missing.");
  const auto end_at = number_at<std::uint64_t>(locator.value(), 8);
  const Result<std::string> end = text_at(file, end_at, 56);
  if (!end) return end.error();
  if (end.value().size() < 56 || number_at<std::uint32_t>(end.value(), 0) != kEnd64Mark)
    return damaged("its directory of 64 bits is missing.");
  return DirectoryPlace{.offset = number_at<std::uint64_t>(end.value(), 48),
                        .size = number_at<std::uint64_t>(end.value(), 40)};
}

Result<DirectoryPlace> find_directory(const Bytes& file) {
  const std::uint64_t tail = std::min(file.size(), kLongestComment + kEndSize);
  const std::uint64_t begin = file.size() - tail;
  const Result<std::string> end = text_at(file, begin, tail);
  if (!end) return end.error();
  const std::string& bytes = end.value();
  for (std::size_t at = bytes.size() - std::min(bytes.size(), kEndSize) + 1; at-- > 0;) {
    if (bytes.size() - at < kEndSize || number_at<std::uint32_t>(bytes, at) != kEndMark) continue;
    const DirectoryPlace place{.offset = number_at<std::uint32_t>(bytes, at + 16),
                               .size = number_at<std::uint32_t>(bytes, at + 12)};
    const bool is_64 = place.offset == UINT32_MAX || place.size == UINT32_MAX ||
                       number_at<std::uint16_t>(bytes, at + 10) == UINT16_MAX;
    return is_64 && begin + at >= 20 ? place_in_zip64(file, begin + at - 20)
                                     : Result<DirectoryPlace>(place);
  }
  return damaged("it is a zip file without its end: it was cut off.");
}

// Sizes and offsets that do not fit 32 bits stand in an extra field, in this order.
void take_zip64_numbers(std::string_view extra, ZipMember& member) {
  while (extra.size() >= 4) {
    const auto id = number_at<std::uint16_t>(extra, 0);
    const std::size_t length =
        std::min<std::size_t>(number_at<std::uint16_t>(extra, 2), extra.size() - 4);
    std::string_view field = extra.substr(4, length);
    extra.remove_prefix(4 + length);
    if (id != 1) continue;
    for (std::uint64_t* number : {&member.size, &member.packed_size, &member.header_offset}) {
      if (*number != UINT32_MAX || field.size() < 8) continue;
      *number = number_at<std::uint64_t>(field, 0);
      field.remove_prefix(8);
    }
  }
}

Result<Zip::Members> members_in(std::string_view directory) {
  Zip::Members members;
  while (directory.size() >= kEntrySize && number_at<std::uint32_t>(directory, 0) == kEntryMark) {
    const std::size_t name_size = number_at<std::uint16_t>(directory, 28);
    const std::size_t extra_size = number_at<std::uint16_t>(directory, 30);
    const std::size_t comment_size = number_at<std::uint16_t>(directory, 32);
    const std::size_t whole = kEntrySize + name_size + extra_size + comment_size;
    if (whole > directory.size()) return damaged("its directory is cut off.");
    ZipMember member{.header_offset = number_at<std::uint32_t>(directory, 42),
                     .packed_size = number_at<std::uint32_t>(directory, 20),
                     .size = number_at<std::uint32_t>(directory, 24),
                     .method = number_at<std::uint16_t>(directory, 10),
                     .encrypted = (number_at<std::uint16_t>(directory, 8) & 1) != 0};
    take_zip64_numbers(directory.substr(kEntrySize + name_size, extra_size), member);
    if (!members.emplace(directory.substr(kEntrySize, name_size), member).second)
      return damaged("two of its members have the same name.");
    directory.remove_prefix(whole);
  }
  if (!directory.empty()) return damaged("its directory is damaged.");
  return members;
}

// Each lies inside the file, and behind the one before it.
Status check_places(const Zip::Members& members, std::uint64_t directory_offset) {
  std::vector<const ZipMember*> in_order;
  for (const auto& [name, member] : members) in_order.push_back(&member);
  std::sort(in_order.begin(), in_order.end(), [](const ZipMember* a, const ZipMember* b) {
    return a->header_offset < b->header_offset;
  });
  std::uint64_t end = 0;
  for (const ZipMember* member : in_order) {
    if (member->header_offset < end) return damaged("its members overlap.");
    if (!fits(member->header_offset, kLocalSize, directory_offset) ||
        !fits(member->header_offset + kLocalSize, member->packed_size, directory_offset))
      return damaged("a member reaches beyond the end of the file.");
    end = member->header_offset + kLocalSize + member->packed_size;
  }
  return Done{};
}

}  // namespace

Result<Zip> Zip::open(BytesPtr file) {
  const Result<DirectoryPlace> place = find_directory(*file);
  if (!place) return place.error();
  const auto [offset, size] = place.value();
  if (!fits(offset, size, file->size()))
    return damaged("its directory reaches beyond the end of the file.");
  if (size > kLargestDirectory) return damaged("its directory is too large to be true.");
  const Result<std::string> directory = text_at(*file, offset, size);
  if (!directory) return directory.error();
  Result<Members> members = members_in(directory.value());
  if (!members) return members.error();
  if (Status placed = check_places(members.value(), offset); !placed) return placed.error();
  Zip zip;
  zip.file_ = std::move(file);
  zip.members_ = std::move(members.value());
  return zip;
}

Result<BytesPtr> Zip::bytes_of(std::string_view name) const {
  const auto found = members_.find(name);
  if (found == members_.end()) return damaged("a member that is needed is missing.");
  const ZipMember& member = found->second;
  if (member.encrypted) return damaged("a member is encrypted.");
  if (member.method != kStored && member.method != kDeflated)
    return damaged("a member is packed in a way that nanscope does not know.");
  const Result<std::string> header = text_at(*file_, member.header_offset, kLocalSize);
  if (!header) return header.error();
  if (header.value().size() < kLocalSize ||
      number_at<std::uint32_t>(header.value(), 0) != kLocalMark)
    return damaged("a member is not where the directory says.");
  const std::uint64_t begin = member.header_offset + kLocalSize +
                              number_at<std::uint16_t>(header.value(), 26) +
                              number_at<std::uint16_t>(header.value(), 28);
  if (!fits(begin, member.packed_size, file_->size()))
    return damaged("a member reaches beyond the end of the file.");
  BytesPtr packed = part_of(file_, begin, member.packed_size);
  if (member.method == kDeflated) return inflated(std::move(packed), member.size);
  if (member.size != member.packed_size) return damaged("a stored member has two sizes.");
  return packed;
}

}  // namespace nanscope::checkpoint
