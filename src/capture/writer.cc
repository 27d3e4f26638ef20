#include "capture/writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "capture/decode.h"
#include "capture/encode.h"

namespace nanscope {
namespace {

// Room kept for the last program, coverage and end records.
constexpr std::size_t kRoomForTheEnd = 1u << 20;
constexpr int kFirstDescriptor = 100;
constexpr std::string_view kEmptyMap = "\xA0";  // CBOR

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Error exists_already(const std::string& path) {
  return {ErrorCode::kExists,
          path + " exists; nothing was written. Use -f to replace it, or -o to name another file."};
}

Error no_folder(const std::string& path) {
  return {ErrorCode::kIo, fmt::format("The folder {} does not exist; {} was not written. "
                                      "Make the folder, or use -o to name another file.",
                                      folder_of(path), path)};
}

// Zero, or the errno of what stopped it.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

bool is_regular(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool is_there(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

// Zero, or the errno of what stopped it.
int move_to_unused(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // A file system that cannot do both at once.
  if (is_there(to)) return EEXIST;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

Error not_added(const std::string& path) {
  return {ErrorCode::kIo, path + ": the record could not be added."};
}

// To the end of a file that is there, whole or not at all.
Status add_frame(const std::string& path, const std::string& frame) {
  if (!is_regular(path)) return not_added(path);
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return not_added(path);
  const off_t size = ::lseek(fd, 0, SEEK_END);
  bool done = size >= 0 && static_cast<std::size_t>(size) + frame.size() <= kMostFileBytes;
  if (done && write_all(fd, frame) != 0) {
    done = false;
    (void)!::ftruncate(fd, size);
  }
  ::close(fd);
  return done ? Status(Done{}) : Status(not_added(path));
}

}  // namespace

Status check_destination(const std::string& path, bool overwrite) {
  if (path.empty())
    return Error{ErrorCode::kBadUsage, "The capture's file name is empty. Use -o to name a file."};
  if (is_folder(path))
    return Error{ErrorCode::kExists,
                 path + " is a folder; nothing was written. Use -o to name a file."};
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (!overwrite) return exists_already(path);
    if (::access(path.c_str(), W_OK) == 0 || errno == ENOENT) return Done{};
    return Error{ErrorCode::kIo, path + " may not be written. Use -o to name another file."};
  }
  if (!is_folder(folder_of(path))) return no_folder(path);
  if (::access(folder_of(path).c_str(), W_OK | X_OK) != 0)
    return Error{ErrorCode::kIo,
                 fmt::format("The folder {} may not be written to; {} was not made. "
                             "Use -o to name another file.",
                             folder_of(path), path)};
  return Done{};
}

bool is_kept_whole(const Fix& fix) {
  const Result<Fix> kept = decode_fix(encode(fix));
  return kept && kept.value().diff == fix.diff;
}

Status add_proposal(const std::string& path, const Fix& fix) {
  if (!is_kept_whole(fix)) return not_added(path);  // half a patch is none
  return add_frame(path, frame_of(RecordType::kProposal, encode(fix)));
}

Status add_repair(const std::string& path, const Repair& repair) {
  const std::string payload = encode(repair);
  const Result<Repair> kept = decode_repair(payload);
  if (!kept || kept.value().fix.has_value() != repair.fix.has_value() ||
      (repair.fix && kept.value().fix->diff != repair.fix->diff))
    return not_added(path);
  return add_frame(path, frame_of(RecordType::kRepair, payload));
}

Status add_program(const std::string& path, const Program& program) {
  return add_frame(path, frame_of(RecordType::kProgram, encode(program)));
}

std::string bytes_of(const Capture& capture) {
  std::string bytes = file_header();
  bytes += frame_of(RecordType::kProgram, encode(capture.program));
  for (const Finding& finding : capture.findings)
    bytes += frame_of(RecordType::kFinding, encode(finding));
  bytes += frame_of(RecordType::kCoverage, encode(capture.coverage));
  if (capture.complete) bytes += frame_of(RecordType::kEnd, kEmptyMap);
  if (capture.proposal) bytes += frame_of(RecordType::kProposal, encode(*capture.proposal));
  for (const Repair& repair : capture.repairs)
    bytes += frame_of(RecordType::kRepair, encode(repair));
  return bytes;
}

CaptureWriter::CaptureWriter(std::string path, bool overwrite)
    : path_(std::move(path)), overwrite_(overwrite) {}

CaptureWriter::CaptureWriter(CaptureWriter&& other) noexcept { *this = std::move(other); }

CaptureWriter& CaptureWriter::operator=(CaptureWriter&& other) noexcept {
  if (this == &other) return *this;
  close();
  path_ = std::move(other.path_);
  part_ = std::exchange(other.part_, {});
  overwrite_ = other.overwrite_;
  finished_ = other.finished_;
  fd_ = std::exchange(other.fd_, -1);
  size_ = other.size_;
  findings_ = other.findings_;
  program_frame_ = std::move(other.program_frame_);
  coverage_frame_ = std::move(other.coverage_frame_);
  return *this;
}

CaptureWriter::~CaptureWriter() { close(); }

Result<CaptureWriter> CaptureWriter::create(const std::string& path, bool overwrite) {
  const Status possible = check_destination(path, overwrite);
  if (!possible) return possible.error();
  return CaptureWriter(path, overwrite);
}

Status CaptureWriter::append(const Finding& finding) {
  if (findings_ == kMostFindings || size_ + kRoomForTheEnd > kMostFileBytes - kMostRecordBytes)
    return Error{
        ErrorCode::kIo,
        fmt::format("{} is full ({} findings); later ones are not recorded.", path_, findings_)};
  const Status done = write(frame_of(RecordType::kFinding, encode(finding)));
  if (!done) return done;
  ++findings_;
  // A disk may refuse only now. Files that cannot be flushed (a pipe) are written all the same.
  if (finding.level == Level::kError && ::fdatasync(fd_) != 0 && errno != EINVAL && errno != EROFS)
    return failure(errno);
  return Done{};
}

Status CaptureWriter::append(const Program& program) {
  program_frame_ = frame_of(RecordType::kProgram, encode(program));
  return fd_ < 0 ? Status(Done{}) : write(program_frame_);
}

Status CaptureWriter::append(const Coverage& coverage) {
  coverage_frame_ = frame_of(RecordType::kCoverage, encode(coverage));
  return fd_ < 0 ? Status(Done{}) : write(coverage_frame_);
}

// Flushed as an error is: what is on disk must not accuse a program that has put things right.
Status CaptureWriter::append(const Withdrawal& withdrawal) {
  if (fd_ < 0) return Done{};
  if (size_ + kRoomForTheEnd > kMostFileBytes - kMostRecordBytes) return Done{};
  const Status done = write(frame_of(RecordType::kWithdrawal, encode(withdrawal)));
  if (done) (void)::fdatasync(fd_);
  return done;
}

void CaptureWriter::discard() noexcept {
  if (fd_ < 0) return;
  close();
  if (size_ > 0 && is_regular(path_)) ::unlink(path_.c_str());
  size_ = 0;
}

Status CaptureWriter::keep() { return fd_ < 0 ? write({}) : Status(Done{}); }

Status CaptureWriter::finish() {
  if (fd_ < 0) return Done{};
  const Status done = write(frame_of(RecordType::kEnd, kEmptyMap));
  const int closed = ::close(std::exchange(fd_, -1));
  finished_ = true;
  if (done && closed != 0) return failure(errno);
  return done;
}

Status CaptureWriter::open() {
  // A pipe, a device or a link is written to as it is; all else appears when it is whole.
  const bool at_once = is_there(path_) && !(overwrite_ && is_regular(path_));
  part_ = at_once ? std::string() : fmt::format("{}.{}.part", path_, ::getpid());
  const int how = O_WRONLY | O_CREAT | O_CLOEXEC | (at_once && !overwrite_ ? O_EXCL : O_TRUNC);
  const int fd = ::open(at_once ? path_.c_str() : part_.c_str(), how, 0644);
  if (fd < 0) {
    part_.clear();
    return failure(errno);
  }
  // Out of the way: the program's own files get the numbers they always had.
  const int high = ::fcntl(fd, F_DUPFD_CLOEXEC, kFirstDescriptor);
  if (high >= 0) ::close(fd);
  fd_ = high >= 0 ? high : fd;
  size_ = 0;
  return Done{};
}

Status CaptureWriter::publish() {
  if (part_.empty()) return Done{};
  (void)::fdatasync(fd_);
  const int error_number = !overwrite_ ? move_to_unused(part_, path_)
                           : ::rename(part_.c_str(), path_.c_str()) == 0 ? 0
                                                                         : errno;
  if (error_number != 0) {
    close();
    return failure(error_number);
  }
  part_.clear();
  return Done{};
}

Status CaptureWriter::write(std::string_view frames) {
  if (finished_)
    return Error{ErrorCode::kInternal, path_ + " is finished; nothing more is written."};
  std::string all;
  if (fd_ < 0) {
    const Status opened = open();
    if (!opened) return opened;
  }
  if (size_ == 0) {
    all = file_header() + program_frame_ + coverage_frame_;
    all += frames;
    frames = all;
  }
  if (const int error_number = write_all(fd_, frames); error_number != 0) {
    if (!part_.empty()) {
      close();
      return failure(error_number);
    }
    // Half a frame would spoil the frames after it.
    if (::ftruncate(fd_, static_cast<off_t>(size_)) == 0)
      (void)::lseek(fd_, static_cast<off_t>(size_), SEEK_SET);
    return failure(error_number);
  }
  size_ += frames.size();
  return publish();
}

Error CaptureWriter::failure(int error_number) const {
  if (error_number == EEXIST) return exists_already(path_);
  if (!is_folder(folder_of(path_))) return no_folder(path_);
  return {ErrorCode::kIo,
          fmt::format("{} could not be written: {}.{}", path_,
                      std::generic_category().message(error_number),
                      findings_ > 0 ? fmt::format(" The {} recorded before {} intact.",
                                                  findings_ == 1 ? "finding" : "findings",
                                                  findings_ == 1 ? "is" : "are")
                                    : " Use -o to name another file.")};
}

void CaptureWriter::close() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  if (!part_.empty()) ::unlink(part_.c_str());
  part_.clear();
}

}  // namespace nanscope
