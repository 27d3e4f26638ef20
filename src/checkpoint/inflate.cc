#include "checkpoint/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>

namespace nanscope::checkpoint {
namespace {

// Who reads backwards begins anew. Readers go forward; more than a few returns are an attack.
constexpr int kMostReturns = 64;

class InflatingCursor : public Cursor {
 public:
  explicit InflatingCursor(BytesPtr packed)
      : packed_(std::move(packed)), from_(packed_->cursor()) {}
  ~InflatingCursor() override { end(); }
  InflatingCursor(const InflatingCursor&) = delete;
  InflatingCursor& operator=(const InflatingCursor&) = delete;

  Status read(std::uint64_t offset, std::span<std::byte> to) override {
    if (!begun_ || offset < position_) {
      if (Status begun = begin(); !begun) return begun;
    }
    std::array<std::byte, 16384> dropped;
    while (position_ < offset) {
      const std::uint64_t skipped = std::min<std::uint64_t>(offset - position_, dropped.size());
      if (Status done = inflate_to(std::span(dropped).first(skipped)); !done) return done;
    }
    return inflate_to(to);
  }

 private:
  void end() {
    if (begun_) ::inflateEnd(&stream_);
    begun_ = false;
  }

  Status begin() {
    end();
    if (returns_++ > kMostReturns) return damaged("a deflated member is read in no useful order.");
    stream_ = {};
    constexpr int kRaw = -15;  // no header: the zip has its own
    if (::inflateInit2(&stream_, kRaw) != Z_OK) return damaged("zlib cannot begin.");
    begun_ = true;
    position_ = 0;
    taken_ = 0;
    return Done{};
  }

  Status inflate_to(std::span<std::byte> to) {
    while (!to.empty()) {
      if (stream_.avail_in == 0) {
        if (Status filled = fill(); !filled) return filled;
      }
      const auto room = std::min<std::size_t>(to.size(), 1U << 30);
      stream_.next_out = reinterpret_cast<Bytef*>(to.data());
      stream_.avail_out = static_cast<uInt>(room);
      const int answer = ::inflate(&stream_, Z_NO_FLUSH);
      const std::size_t made = room - stream_.avail_out;
      position_ += made;
      to = to.subspan(made);
      if (to.empty()) break;
      if (answer == Z_STREAM_END) return damaged("a deflated member holds less than it should.");
      if (answer != Z_OK && !(answer == Z_BUF_ERROR && stream_.avail_in == 0))
        return damaged("a deflated member cannot be inflated.");
    }
    return Done{};
  }

  Status fill() {
    const std::uint64_t left = packed_->size() - taken_;
    if (left == 0) return damaged("a deflated member ends too early.");
    const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(left, input_.size()));
    const std::span<std::byte> into = std::as_writable_bytes(std::span(input_)).first(taken);
    if (Status read = from_->read(taken_, into); !read) return read;
    taken_ += taken;
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(taken);
    return Done{};
  }

  BytesPtr packed_;
  std::unique_ptr<Cursor> from_;
  z_stream stream_{};
  bool begun_ = false;
  int returns_ = 0;
  std::uint64_t position_ = 0;  // in what comes out
  std::uint64_t taken_ = 0;     // of what goes in
  std::array<Bytef, 65536> input_;
};

class Inflated : public Bytes {
 public:
  Inflated(BytesPtr packed, std::uint64_t size) : packed_(std::move(packed)), size_(size) {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] bool seekable() const override { return false; }
  [[nodiscard]] std::unique_ptr<Cursor> cursor() const override {
    return std::make_unique<InflatingCursor>(packed_);
  }

 private:
  BytesPtr packed_;
  std::uint64_t size_;
};

}  // namespace

BytesPtr inflated(BytesPtr packed, std::uint64_t size) {
  return std::make_shared<Inflated>(std::move(packed), size);
}

}  // namespace nanscope::checkpoint
