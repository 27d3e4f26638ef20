// One Python frame as this CPython keeps it: what differs between 3.11 and 3.14 stands here and
// nowhere else.
//
// A frame is read without the GIL by the thread it belongs to. From 3.12 on the interpreter puts
// shims between frames, where C called Python: `innermost` and `back` pass them over, since
// `sys._getframe` never shows one. Held to `sys._getframe` by tests/seams on every Python found.
#pragma once

#define Py_BUILD_CORE 1
#include <Python.h>
#if PY_VERSION_HEX < 0x030B0000
#error "nanscope needs CPython 3.11 or newer: 3.10 keeps no columns"
#endif
#ifdef Py_GIL_DISABLED
#error "nanscope needs the GIL: this is a free-threaded CPython"
#endif
#if PY_VERSION_HEX >= 0x030E0000
#include <internal/pycore_interpframe.h>
#else
#include <internal/pycore_frame.h>
#endif
#undef Py_BUILD_CORE

#include <cstdint>
#include <type_traits>

namespace nanscope {

using PythonFrame = _PyInterpreterFrame;

#if PY_VERSION_HEX >= 0x030D0000
inline PythonFrame*& innermost_slot(PyThreadState* thread) { return thread->current_frame; }
inline const void* instruction_of(const PythonFrame* frame) { return frame->instr_ptr; }
inline bool is_finalizing() { return Py_IsFinalizing() != 0; }
#else
inline PythonFrame*& innermost_slot(PyThreadState* thread) { return thread->cframe->current_frame; }
inline const void* instruction_of(const PythonFrame* frame) { return frame->prev_instr; }
inline bool is_finalizing() { return _Py_IsFinalizing() != 0; }
#endif

#if PY_VERSION_HEX >= 0x030E0000
inline PyCodeObject* code_of(const PythonFrame* frame) {
  return _PyFrame_GetCode(const_cast<PythonFrame*>(frame));
}
inline PyObject* local_of(const PythonFrame* frame, int place) {
  const _PyStackRef local = frame->localsplus[place];
  return PyStackRef_IsNull(local) ? nullptr : PyStackRef_AsPyObjectBorrow(local);
}
#elif PY_VERSION_HEX >= 0x030D0000
static_assert(std::is_same_v<decltype(PythonFrame::f_executable), PyObject*>);
inline PyCodeObject* code_of(const PythonFrame* frame) {
  return reinterpret_cast<PyCodeObject*>(frame->f_executable);
}
inline PyObject* local_of(const PythonFrame* frame, int place) { return frame->localsplus[place]; }
#else
static_assert(std::is_same_v<decltype(PythonFrame::f_code), PyCodeObject*>);
inline PyCodeObject* code_of(const PythonFrame* frame) { return frame->f_code; }
inline PyObject* local_of(const PythonFrame* frame, int place) { return frame->localsplus[place]; }
#endif

// What the functions here lean on: an instruction is an address in the code object, counted in
// units of two bytes; frames are a list by `previous`; frames that no Python code runs in have
// the owners after that of a frame object (on 3.11 there is none).
static_assert(sizeof(_Py_CODEUNIT) == 2);
static_assert(std::is_same_v<decltype(PythonFrame::previous), PythonFrame*>);
static_assert(FRAME_OWNED_BY_THREAD == 0 && FRAME_OWNED_BY_GENERATOR == 1 &&
              FRAME_OWNED_BY_FRAME_OBJECT == 2);

inline bool is_shim(const PythonFrame* frame) { return frame->owner > FRAME_OWNED_BY_FRAME_OBJECT; }

inline PythonFrame* past_shims(PythonFrame* frame) {
  while (frame != nullptr && is_shim(frame)) frame = frame->previous;
  return frame;
}

inline PythonFrame* back(const PythonFrame* frame) { return past_shims(frame->previous); }

// Where the calling thread is; nothing where Python does not know it or no code runs.
inline PythonFrame* innermost_frame() {
  PyThreadState* thread = PyGILState_GetThisThreadState();
#if PY_VERSION_HEX < 0x030D0000
  if (thread != nullptr && thread->cframe == nullptr) return nullptr;
#endif
  return thread == nullptr ? nullptr : past_shims(innermost_slot(thread));
}

// Byte offset of the instruction that runs, as `f_lasti` has it.
inline int lasti_of(const PythonFrame* frame) {
  return static_cast<int>(_PyInterpreterFrame_LASTI(const_cast<PythonFrame*>(frame)) *
                          sizeof(_Py_CODEUNIT));
}

}  // namespace nanscope
