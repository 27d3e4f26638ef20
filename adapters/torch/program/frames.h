// The Python frames of the calling thread, as small numbers.
//
// Read without the GIL: the frames of a thread cannot change while it is inside our
// wrapper. A stack seen before costs a few nanoseconds a frame; a new one takes the GIL
// once to keep its code objects alive. What a frame is stands in seams/python_frame.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "origin/host_numbers.h"

struct _object;

namespace nanscope::torch_adapter {

using StackId = std::uint32_t;  // 0: no Python frames

struct StackInfo {
  std::uint32_t line = 0;        // number of the user's own innermost line; 0 if there is none
  bool optimizer = false;        // inside an optimizer's step, or gradient clipping
  bool in_scaler = false;        // inside torch.amp.GradScaler
  bool printing = false;         // inside torch's tensor printing
  bool inside_backward = false;  // user code called by the backward engine
  bool in_engine = false;        // the backward engine called what runs, and no user code between
  bool in_checkpoint = false;    // torch.utils.checkpoint called it
  bool by_engine = false;        // the backward engine called what runs, and no Python between
  bool recomputes = false;       // a forward that a checkpoint computes again
};

// One frame, innermost first. `code` and `self` are borrowed.
struct RawFrame {
  _object* code = nullptr;
  int lasti = 0;               // byte offset of the instruction
  const void* self = nullptr;  // first local of a frame called `forward`; may be dead by now
};

// Whom to ask what the program's text says; null: nobody.
struct AskOfText {
  _object* is_user_code = nullptr;
  _object* spells = nullptr;
  _object* given_at = nullptr;
  _object* takes_memory = nullptr;
  _object* optimizer_class = nullptr;
};

// All with the GIL held.
void configure_frames(const AskOfText& ask, const std::string& torch_folder);
[[nodiscard]] std::vector<RawFrame> frames_of(StackId stack);
// A stack that is gone: that of an exception.
[[nodiscard]] StackId past_stack(const std::vector<RawFrame>& frames);

// The code that runs now is torch's own.
[[nodiscard]] bool is_called_by_torch();

// Without the GIL, on any thread.
// The text of the line that runs now spells such a number: float("inf").
[[nodiscard]] bool is_spelled(NumberKinds numbers);
// The numbers of the lines on which the names of the line that runs now get their values.
[[nodiscard]] std::vector<std::uint32_t> lines_of_names();
// The program itself takes memory there: torch.empty(3). Otherwise code in C that it calls does.
[[nodiscard]] bool takes_memory(StackId stack);
[[nodiscard]] StackId current_stack();
[[nodiscard]] StackInfo info_of(StackId stack);
// A stack inside torch.amp.GradScaler was seen.
[[nodiscard]] bool is_scaler_seen();
[[nodiscard]] std::uint64_t stacks_lost();

}  // namespace nanscope::torch_adapter
