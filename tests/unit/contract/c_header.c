// SPDX-License-Identifier: Apache-2.0
// Proves that the C header is C11, and makes a command with it for c_header_test.cpp.
#include "hw/contract/gen/npu_contract.h"

// Writes a DMA command without header into `words`, which are NPU_DMA_WORDS long and 0.
void npu_test_make_dma(uint32_t *words);

void npu_test_make_dma(uint32_t *words) {
  NPU_PUT(words, HEADER_OPCODE, NPU_OPCODE_DMA);
  NPU_PUT(words, HEADER_WORDS, NPU_DMA_WORDS);
  NPU_PUT(words, HEADER_QUEUE, NPU_QUEUE_DMA2);
  words[NPU_DMA_DST_WORD] = 0x1000;
  NPU_PUT(words + NPU_DMA_DST_WORD, ADDRESS_REGION, NPU_REGION_VARIABLE);
  NPU_PUT(words + NPU_DMA_DST_WORD, ADDRESS_VARIABLE, 0x123);
  NPU_PUT(words, DMA_MODE, NPU_DMA_MODE_FILL);
  NPU_PUT(words, DMA_COMMIT, 1);
  NPU_PUT(words, DMA_RUN_BYTES, 77);
}
