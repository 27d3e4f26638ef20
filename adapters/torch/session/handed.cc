#include "adapters/torch/session/handed.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "capture/decode.h"
#include "capture/encode.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::size_t kMostBytes = 8u << 20;
constexpr std::size_t kMostWritten = 1u << 14;

// Before the story; one write() each, so that records of several processes do not mix.
struct Header {
  std::uint64_t magic = 0x6465646e61686e73;
  std::int64_t pid = 0;
  BadPattern pattern;
  std::uint64_t nan = 0;
  std::uint64_t inf = 0;
  std::uint64_t story = 0;  // where it stands, if it was told before
  std::uint64_t bytes = 0;  // of the story, behind this
};

class OpenFile {
 public:
  OpenFile(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC)) {}
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] std::size_t size() const {
    const off_t end = fd_ < 0 ? 0 : ::lseek(fd_, 0, SEEK_END);
    return end > 0 ? static_cast<std::size_t>(end) : 0;
  }

 private:
  int fd_;
};

std::string all_of(const std::string& path) {
  const OpenFile file(path, O_RDONLY);
  std::string bytes(std::min(file.size(), kMostBytes * 2), '\0');
  const ssize_t got = bytes.empty() ? 0 : ::pread(file.fd(), bytes.data(), bytes.size(), 0);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

std::optional<Header> header_at(std::string_view bytes, std::size_t offset) {
  Header header;
  if (offset > bytes.size() || bytes.size() - offset < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data() + offset, sizeof header);
  const bool whole =
      header.magic == Header{}.magic && header.bytes <= bytes.size() - offset - sizeof header;
  return whole ? std::optional(header) : std::nullopt;
}

std::optional<Finding> story_at(std::string_view bytes, std::size_t offset) {
  const auto header = header_at(bytes, offset);
  if (!header || header->bytes == 0) return std::nullopt;
  auto finding = decode_finding(bytes.substr(offset + sizeof(Header), header->bytes));
  return finding ? std::optional(std::move(finding.value())) : std::nullopt;
}

}  // namespace

void Handed::open(std::string path, std::int64_t pid) {
  *this = {};
  path_ = std::move(path);
  pid_ = pid;
}

void Handed::add(const BadPattern& pattern, Kinds kinds, std::uint64_t origin,
                 const Finding* finding) {
  const auto known = story_of_.find(origin);
  if (!is_open() || (known == story_of_.end() && finding == nullptr)) return;
  const std::tuple key{pattern.numel, pattern.places, origin};
  if (written_.size() >= kMostWritten || !written_.insert(key).second) return;
  Header header{.pid = pid_, .pattern = pattern, .nan = kinds.nan, .inf = kinds.inf};
  std::string record(sizeof header, '\0');
  if (known != story_of_.end()) {
    header.story = known->second;
  } else {
    record += encode(*finding);
    header.bytes = record.size() - sizeof header;
  }
  std::memcpy(record.data(), &header, sizeof header);
  const OpenFile file(path_, O_WRONLY | O_APPEND);
  if (file.fd() < 0 || file.size() > kMostBytes) return;  // the run is gone, or has enough
  if (::write(file.fd(), record.data(), record.size()) != static_cast<ssize_t>(record.size()))
    return;
  const auto end = static_cast<std::uint64_t>(::lseek(file.fd(), 0, SEEK_CUR));
  if (known == story_of_.end()) story_of_.emplace(origin, end - record.size());
}

std::optional<Handed::Story> Handed::find(const BadPattern& pattern, Kinds kinds) const {
  if (!is_open()) return std::nullopt;
  const std::string bytes = all_of(path_);
  std::optional<std::pair<Header, std::size_t>> best;
  bool exact = false;
  std::size_t next = 0;
  while (const auto header = header_at(bytes, next)) {
    const std::size_t offset = next;
    next += sizeof(Header) + header->bytes;
    const bool same = pattern.bad != 0 && header->pattern == pattern;
    const bool alike =
        header->pid != pid_ && ((kinds.nan && header->nan != 0) || (kinds.inf && header->inf != 0));
    if (!same && (exact || !alike)) continue;
    best = {*header, header->bytes != 0 ? offset : header->story};
    exact = same;
  }
  if (!best) return std::nullopt;
  std::optional<Finding> finding = story_at(bytes, best->second);
  if (!finding) return std::nullopt;
  return Story{std::move(*finding), best->first.pid, exact};
}

}  // namespace nanscope::torch_adapter
