#include "cuda_emulator/fiber.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

#if defined(__x86_64__)
asm(R"(
.text
.globl camshaftSwitchStack
.type camshaftSwitchStack, @function
camshaftSwitchStack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size camshaftSwitchStack, .-camshaftSwitchStack
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl camshaftSwitchStack
.type camshaftSwitchStack, %function
camshaftSwitchStack:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size camshaftSwitchStack, .-camshaftSwitchStack
)");
#else
#error "the CUDA emulator switches stacks on x86-64 and aarch64 only"
#endif

namespace camshaft::emulator {
namespace {

constexpr size_t kGuardBytes = 64 * 1024;  // a multiple of every page size
constexpr size_t kStackBytes = 256 * 1024;
#if defined(__x86_64__)
constexpr size_t kFrameWords = 8;  // six registers, the return address, alignment
constexpr size_t kReturnWord = 6;
#else
constexpr size_t kFrameWords = 20;
constexpr size_t kReturnWord = 11;  // x30
#endif

}  // namespace

Stack::Stack() {
  void* mapping = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<char*>(mapping);
  mprotect(mapping_, kGuardBytes, PROT_NONE);
}

Stack::~Stack() { munmap(mapping_, kGuardBytes + kStackBytes); }

void* Stack::prepare(void (*entry)()) const {
  void** frame = reinterpret_cast<void**>(mapping_ + kGuardBytes + kStackBytes) - kFrameWords;
  std::memset(frame, 0, kFrameWords * sizeof(void*));
  frame[kReturnWord] = reinterpret_cast<void*>(entry);
  return frame;
}

bool Stack::inGuardPage(const void* address) const {
  const char* at = static_cast<const char*>(address);
  return at >= mapping_ && at < mapping_ + kGuardBytes;
}

}  // namespace camshaft::emulator
