#include "checkpoint/bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace nanscope::checkpoint {
namespace {

Error refused(int code) {
  return {code == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
          code == ENOENT ? "there is no such file." : std::string(std::strerror(code)) + "."};
}

class File : public Bytes {
 public:
  File(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}
  ~File() override { ::close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] std::unique_ptr<Cursor> cursor() const override;
  [[nodiscard]] Status read(std::uint64_t offset, std::span<std::byte> to) const {
    while (!to.empty()) {
      const ssize_t got = ::pread(descriptor_, to.data(), to.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return refused(errno);
      if (got == 0) return damaged("it became shorter while it was read.");
      to = to.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
    return Done{};
  }

 private:
  int descriptor_;
  std::uint64_t size_;
};

class FileCursor : public Cursor {
 public:
  explicit FileCursor(const File& file) : file_(file) {}
  Status read(std::uint64_t offset, std::span<std::byte> to) override {
    return file_.read(offset, to);
  }

 private:
  const File& file_;
};

std::unique_ptr<Cursor> File::cursor() const { return std::make_unique<FileCursor>(*this); }

class Memory : public Bytes {
 public:
  explicit Memory(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  [[nodiscard]] std::unique_ptr<Cursor> cursor() const override;
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class MemoryCursor : public Cursor {
 public:
  explicit MemoryCursor(const Memory& memory) : memory_(memory) {}
  Status read(std::uint64_t offset, std::span<std::byte> to) override {
    if (!fits(offset, to.size(), memory_.size())) return damaged("it ends too early.");
    if (!to.empty()) std::memcpy(to.data(), memory_.bytes().data() + offset, to.size());
    return Done{};
  }

 private:
  const Memory& memory_;
};

std::unique_ptr<Cursor> Memory::cursor() const { return std::make_unique<MemoryCursor>(*this); }

class Part : public Bytes {
 public:
  Part(BytesPtr whole, std::uint64_t offset, std::uint64_t length)
      : whole_(std::move(whole)), offset_(offset), length_(length) {}
  [[nodiscard]] std::uint64_t size() const override { return length_; }
  [[nodiscard]] bool seekable() const override { return whole_->seekable(); }
  [[nodiscard]] std::unique_ptr<Cursor> cursor() const override;

 private:
  BytesPtr whole_;
  std::uint64_t offset_;
  std::uint64_t length_;
};

class PartCursor : public Cursor {
 public:
  PartCursor(std::unique_ptr<Cursor> whole, std::uint64_t offset, std::uint64_t length)
      : whole_(std::move(whole)), offset_(offset), length_(length) {}
  Status read(std::uint64_t offset, std::span<std::byte> to) override {
    if (!fits(offset, to.size(), length_)) return damaged("it ends too early.");
    return whole_->read(offset_ + offset, to);
  }

 private:
  std::unique_ptr<Cursor> whole_;
  std::uint64_t offset_;
  std::uint64_t length_;
};

std::unique_ptr<Cursor> Part::cursor() const {
  return std::make_unique<PartCursor>(whole_->cursor(), offset_, length_);
}

}  // namespace

Result<BytesPtr> open_file(const std::string& path) {
  // Not to wait for the writer of a pipe.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return refused(errno);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    const Error error = refused(errno);
    ::close(descriptor);
    return error;
  }
  auto file = std::make_shared<File>(descriptor, static_cast<std::uint64_t>(status.st_size));
  if (!S_ISREG(status.st_mode)) return Error{ErrorCode::kIo, "it is not a regular file."};
  return BytesPtr(std::move(file));
}

BytesPtr in_memory(std::string bytes) { return std::make_shared<Memory>(std::move(bytes)); }

bool fits(std::uint64_t offset, std::uint64_t length, std::uint64_t size) noexcept {
  return offset <= size && length <= size - offset;
}

BytesPtr part_of(BytesPtr whole, std::uint64_t offset, std::uint64_t length) {
  return std::make_shared<Part>(std::move(whole), offset, length);
}

Result<std::string> text_at(const Bytes& bytes, std::uint64_t offset, std::uint64_t limit) {
  const std::uint64_t left = offset < bytes.size() ? bytes.size() - offset : 0;
  std::string text(static_cast<std::size_t>(std::min(limit, left)), '\0');
  const Status read = bytes.cursor()->read(offset, std::as_writable_bytes(std::span(text)));
  if (!read) return read.error();
  return text;
}

Error damaged(std::string what) { return {ErrorCode::kDamaged, std::move(what)}; }

}  // namespace nanscope::checkpoint
