// Stacks, and switching between them without a system call.
#pragma once

#include <cstddef>

namespace camshaft::emulator {

// Pushes the callee-saved registers, stores the stack pointer in *saved, and goes on where `next`
// was saved.
extern "C" void camshaftSwitchStack(void** saved, void* next);

// A mapped stack with a page below it that faults when touched.
class Stack {
 public:
  Stack();
  ~Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  // A stack pointer to switch to: calls `entry`, which must not return.
  void* prepare(void (*entry)()) const;
  bool inGuardPage(const void* address) const;

 private:
  char* mapping_;
};

}  // namespace camshaft::emulator
