#include "capture/reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "capture/decode.h"
#include "capture/format.h"

namespace nanscope {
namespace {

struct OpenFile {
  int fd;
  ~OpenFile() {
    if (fd >= 0) ::close(fd);
  }
};

Error unreadable(const std::string& path, int error_number) {
  if (error_number == ENOENT) return {ErrorCode::kNotFound, path + " does not exist."};
  return {ErrorCode::kIo, fmt::format("{} could not be read: {}.", path,
                                      std::generic_category().message(error_number))};
}

// Wraps a decoder's complaint into a sentence about the file.
Error complaint(const Error& error, const std::string& name, std::size_t offset) {
  if (error.code == ErrorCode::kNewer)
    return {error.code,
            fmt::format("{} was written by a newer nanscope: in the record at byte {}, {}. "
                        "Update nanscope to read it.",
                        name, offset, error.message)};
  return {error.code, fmt::format("{} is damaged: in the record at byte {}, {}. "
                                  "`nanscope dump` shows what lies before it.",
                                  name, offset, error.message)};
}

template <class T>
std::optional<Error> take(Result<T> decoded, T& target) {
  if (!decoded) return decoded.error();
  target = std::move(decoded.value());
  return std::nullopt;
}

// Keeps the last repair of each finding.
std::optional<Error> file_repair(Repair repair, std::vector<Repair>& repairs) {
  const auto earlier = std::find_if(repairs.begin(), repairs.end(), [&](const Repair& other) {
    return other.finding == repair.finding;
  });
  if (earlier != repairs.end()) {
    *earlier = std::move(repair);
  } else if (repairs.size() == kMostRepairs) {
    return Error{ErrorCode::kDamaged, "there are more repairs than a capture can hold"};
  } else {
    repairs.push_back(std::move(repair));
  }
  return std::nullopt;
}

std::optional<Error> withdraw(Withdrawal withdrawal, std::vector<Finding>& findings) {
  if (withdrawal.finding < 0 || withdrawal.finding >= static_cast<std::int64_t>(findings.size()))
    return Error{ErrorCode::kDamaged, "a finding is withdrawn that was not recorded before"};
  Finding& finding = findings[static_cast<std::size_t>(withdrawal.finding)];
  finding.level = withdrawal.undone.empty() ? Level::kError : Level::kNote;
  finding.undone = std::move(withdrawal.undone);
  return std::nullopt;
}

// Files one record away; unknown types are a newer writer's and are skipped.
std::optional<Error> file_away(const RawFrame& frame, Capture& capture) {
  switch (frame.type) {
    case RecordType::kProgram:
      return take(decode_program(frame.payload), capture.program);
    case RecordType::kCoverage:
      return take(decode_coverage(frame.payload), capture.coverage);
    case RecordType::kFinding:
      if (capture.findings.size() == kMostFindings)
        return Error{ErrorCode::kDamaged, "there are more findings than a capture can hold"};
      return take(decode_finding(frame.payload), capture.findings.emplace_back());
    case RecordType::kEnd:
      capture.complete = true;
      return std::nullopt;
    case RecordType::kProposal:
      return take(decode_fix(frame.payload), capture.proposal.emplace());
    case RecordType::kRepair: {
      Result<Repair> repair = decode_repair(frame.payload);
      if (!repair) return repair.error();
      return file_repair(std::move(repair.value()), capture.repairs);
    }
    case RecordType::kWithdrawal: {
      Result<Withdrawal> withdrawal = decode_withdrawal(frame.payload);
      if (!withdrawal) return withdrawal.error();
      return withdraw(std::move(withdrawal.value()), capture.findings);
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> read_capture_bytes(const std::string& path) {
  // Not blocking: a pipe without a writer would hang us.
  const OpenFile file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) return unreadable(path, errno);
  struct stat status {};
  if (::fstat(file.fd, &status) != 0) return unreadable(path, errno);
  if (S_ISDIR(status.st_mode))
    return Error{ErrorCode::kForeign,
                 path + " is a folder, not a capture. Name a .nsc file inside it."};
  if (!S_ISREG(status.st_mode)) return Error{ErrorCode::kForeign, path + " is not a regular file."};
  if (static_cast<std::uint64_t>(status.st_size) > kMostFileBytes)
    return Error{
        ErrorCode::kForeign,
        fmt::format("{} is not a nanscope capture: it has {} MB, and a capture at most {}.", path,
                    status.st_size >> 20, kMostFileBytes >> 20)};

  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(file.fd, bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

Result<Capture> parse_capture(std::string_view bytes, const std::string& name) {
  Result<FrameWalk> walk = FrameWalk::begin(bytes, name);
  if (!walk) return walk.error();

  Capture capture;
  capture.complete = false;  // until the end record is met
  RawFrame frame;
  for (;;) {
    const Result<FrameWalk::Step> step = walk.value().next(frame);
    if (!step) return step.error();
    if (step.value() == FrameWalk::Step::kCutOff) capture.complete = false;
    if (step.value() != FrameWalk::Step::kFrame) break;
    if (const std::optional<Error> error = file_away(frame, capture))
      return complaint(*error, name, frame.offset);
  }
  std::stable_sort(capture.findings.begin(), capture.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.level < b.level; });
  return capture;
}

Result<Capture> read_capture(const std::string& path) {
  const Result<std::string> bytes = read_capture_bytes(path);
  if (!bytes) return bytes.error();
  return parse_capture(bytes.value(), path);
}

}  // namespace nanscope
