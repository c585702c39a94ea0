#include "textflag.h"

// Each kernel reads rows that lie one behind the other, and writes one number a row. Counts are checked by the
// callers: n > 0, strides are multiples of a block.

DATA ones<>+0(SB)/8, $0x0001000100010001
GLOBL ones<>(SB), RODATA|NOPTR, $8

DATA nibbles<>+0(SB)/8, $0x0302020102010100
DATA nibbles<>+8(SB)/8, $0x0403030203020201
GLOBL nibbles<>(SB), RODATA|NOPTR, $16

DATA low<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL low<>(SB), RODATA|NOPTR, $8

// func dotFloatsAVX2(query, rows *float32, n, stride int, out *float32)
//
// Sixteen sums, of the elements whose places are the same modulo 16, added in the order of sum16. Products are
// rounded before they are added.
TEXT ·dotFloatsAVX2(SB), NOSPLIT, $0-40
	MOVQ query+0(FP), SI
	MOVQ rows+8(FP), DI
	MOVQ n+16(FP), CX
	MOVQ stride+24(FP), DX
	MOVQ out+32(FP), BX

floatRow:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	MOVQ   SI, R8
	MOVQ   DX, R9

floatBlock:
	PREFETCHT0 2048(DI)
	VMOVUPS (DI), Y2
	VMOVUPS 32(DI), Y3
	VMULPS  (R8), Y2, Y2
	VMULPS  32(R8), Y3, Y3
	VADDPS  Y2, Y0, Y0
	VADDPS  Y3, Y1, Y1
	ADDQ    $64, DI
	ADDQ    $64, R8
	SUBQ    $16, R9
	JNZ     floatBlock

	VADDPS       Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	VMOVHLPS     X0, X0, X1
	VADDPS       X1, X0, X0
	VMOVSHDUP    X0, X1
	VADDSS       X1, X0, X0
	VMOVSS       X0, (BX)
	ADDQ         $4, BX
	DECQ         CX
	JNZ          floatRow
	VZEROUPPER
	RET

// func dotPairsAVX2(query, rows *float32, pairs, stride int, out *float32)
//
// The same for rows i and pairs+i at once: memory gives more when it is read at two places.
TEXT ·dotPairsAVX2(SB), NOSPLIT, $0-40
	MOVQ query+0(FP), SI
	MOVQ rows+8(FP), DI
	MOVQ pairs+16(FP), CX
	MOVQ stride+24(FP), DX
	MOVQ out+32(FP), BX
	MOVQ CX, R10
	IMULQ DX, R10
	SHLQ $2, R10
	ADDQ DI, R10
	LEAQ (BX)(CX*4), R11

pairRow:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	MOVQ   SI, R8
	MOVQ   DX, R9

pairBlock:
	PREFETCHT0 3072(DI)
	PREFETCHT0 3072(R10)
	VMOVUPS (R8), Y4
	VMOVUPS 32(R8), Y5
	VMULPS  (DI), Y4, Y2
	VMULPS  32(DI), Y5, Y3
	VMULPS  (R10), Y4, Y6
	VMULPS  32(R10), Y5, Y7
	VADDPS  Y2, Y0, Y0
	VADDPS  Y3, Y1, Y1
	VADDPS  Y6, Y8, Y8
	VADDPS  Y7, Y9, Y9
	ADDQ    $64, DI
	ADDQ    $64, R10
	ADDQ    $64, R8
	SUBQ    $16, R9
	JNZ     pairBlock

	VADDPS       Y1, Y0, Y0
	VADDPS       Y9, Y8, Y8
	VEXTRACTF128 $1, Y0, X1
	VEXTRACTF128 $1, Y8, X9
	VADDPS       X1, X0, X0
	VADDPS       X9, X8, X8
	VMOVHLPS     X0, X0, X1
	VMOVHLPS     X8, X8, X9
	VADDPS       X1, X0, X0
	VADDPS       X9, X8, X8
	VMOVSHDUP    X0, X1
	VMOVSHDUP    X8, X9
	VADDSS       X1, X0, X0
	VADDSS       X9, X8, X8
	VMOVSS       X0, (BX)
	VMOVSS       X8, (R11)
	ADDQ         $4, BX
	ADDQ         $4, R11
	DECQ         CX
	JNZ          pairRow
	VZEROUPPER
	RET

// func dotCodesAVX2(query *int8, codes *uint8, n, stride int, out *int32)
TEXT ·dotCodesAVX2(SB), NOSPLIT, $0-40
	MOVQ query+0(FP), SI
	MOVQ codes+8(FP), DI
	MOVQ n+16(FP), CX
	MOVQ stride+24(FP), DX
	MOVQ out+32(FP), BX
	VPBROADCASTQ ones<>(SB), Y15

codesRow:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	MOVQ  SI, R8
	MOVQ  DX, R9

codesBlock:
	PREFETCHT0 1024(DI)
	VMOVDQU    (DI), Y2
	VMOVDQU    32(DI), Y3
	VPMADDUBSW (R8), Y2, Y2
	VPMADDUBSW 32(R8), Y3, Y3
	VPMADDWD   Y15, Y2, Y2
	VPMADDWD   Y15, Y3, Y3
	VPADDD     Y2, Y0, Y0
	VPADDD     Y3, Y1, Y1
	ADDQ       $64, DI
	ADDQ       $64, R8
	SUBQ       $64, R9
	JNZ        codesBlock

	VPADDD       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4e, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xb1, X0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, (BX)
	ADDQ         $4, BX
	DECQ         CX
	JNZ          codesRow
	VZEROUPPER
	RET

// func dotIntegersAVX2(query *int16, rows **int8, n, stride int, out *int32)
//
// Rows lie anywhere, so the first bytes of a later one are fetched ahead.
TEXT ·dotIntegersAVX2(SB), NOSPLIT, $0-40
	MOVQ query+0(FP), SI
	MOVQ rows+8(FP), DI
	MOVQ n+16(FP), CX
	MOVQ stride+24(FP), DX
	MOVQ out+32(FP), BX

integersRow:
	CMPQ CX, $8
	JLE  integersFetched
	MOVQ 64(DI), R10
	PREFETCHT0 (R10)
	PREFETCHT0 64(R10)
	PREFETCHT0 127(R10)

integersFetched:
	MOVQ  (DI), R10
	ADDQ  $8, DI
	VPXOR Y0, Y0, Y0
	MOVQ  SI, R8
	MOVQ  DX, R9

integersBlock:
	VPMOVSXBW (R10), Y1
	VPMADDWD  (R8), Y1, Y1
	VPADDD    Y1, Y0, Y0
	ADDQ      $16, R10
	ADDQ      $32, R8
	SUBQ      $16, R9
	JNZ       integersBlock

	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4e, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xb1, X0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, (BX)
	ADDQ         $4, BX
	DECQ         CX
	JNZ          integersRow
	VZEROUPPER
	RET

// func differAVX512(query, bits *uint64, n, words int, below uint64, out *uint64, under *uint8)
//
// As differAVX2, a group at a time.
TEXT ·differAVX512(SB), NOSPLIT, $0-56
	MOVQ query+0(FP), SI
	MOVQ bits+8(FP), DI
	MOVQ n+16(FP), CX
	MOVQ words+24(FP), DX
	MOVQ out+40(FP), BX
	MOVQ under+48(FP), R11
	VPBROADCASTQ below+32(FP), Z15

popGroup:
	VPXORQ Z0, Z0, Z0
	MOVQ   SI, R8
	MOVQ   DX, R9

popWord:
	PREFETCHT0   2048(DI)
	VPBROADCASTQ (R8), Z2
	VPXORQ       (DI), Z2, Z2
	VPOPCNTQ     Z2, Z2
	VPADDQ       Z2, Z0, Z0
	ADDQ         $64, DI
	ADDQ         $8, R8
	DECQ         R9
	JNZ          popWord

	VMOVDQU64 Z0, (BX)
	VPCMPUQ   $1, Z15, Z0, K1
	KMOVB     K1, AX
	MOVB      AX, (R11)
	INCQ      R11
	ADDQ      $64, BX
	DECQ      CX
	JNZ       popGroup
	VZEROUPPER
	RET

// func differAVX2(query, bits *uint64, n, words int, below uint64, out *uint64, under *uint8)
//
// Rows lie in groups of eight: the first word of each, then the second word of each. n counts groups; out has eight
// numbers a group, and under a bit for each of them that is below.
TEXT ·differAVX2(SB), NOSPLIT, $0-56
	MOVQ query+0(FP), SI
	MOVQ bits+8(FP), DI
	MOVQ n+16(FP), CX
	MOVQ words+24(FP), DX
	MOVQ out+40(FP), BX
	MOVQ under+48(FP), R11
	VPBROADCASTQ below+32(FP), Y12
	VBROADCASTI128 nibbles<>(SB), Y15
	VPBROADCASTQ   low<>(SB), Y14
	VPXOR          Y13, Y13, Y13

bitsGroup:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	MOVQ  SI, R8
	MOVQ  DX, R9

bitsWord:
	PREFETCHT0   2048(DI)
	VPBROADCASTQ (R8), Y2
	VPXOR        32(DI), Y2, Y3
	VPXOR        (DI), Y2, Y2
	VPSRLW       $4, Y2, Y4
	VPSRLW       $4, Y3, Y5
	VPAND        Y14, Y2, Y2
	VPAND        Y14, Y3, Y3
	VPAND        Y14, Y4, Y4
	VPAND        Y14, Y5, Y5
	VPSHUFB      Y2, Y15, Y2
	VPSHUFB      Y3, Y15, Y3
	VPSHUFB      Y4, Y15, Y4
	VPSHUFB      Y5, Y15, Y5
	VPADDB       Y4, Y2, Y2
	VPADDB       Y5, Y3, Y3
	VPSADBW      Y13, Y2, Y2
	VPSADBW      Y13, Y3, Y3
	VPADDQ       Y2, Y0, Y0
	VPADDQ       Y3, Y1, Y1
	ADDQ         $64, DI
	ADDQ         $8, R8
	DECQ         R9
	JNZ          bitsWord

	VMOVDQU   Y0, (BX)
	VMOVDQU   Y1, 32(BX)
	VPCMPGTQ  Y0, Y12, Y0
	VPCMPGTQ  Y1, Y12, Y1
	VMOVMSKPD Y0, AX
	VMOVMSKPD Y1, R10
	SHLQ      $4, R10
	ORQ       R10, AX
	MOVB      AX, (R11)
	INCQ      R11
	ADDQ      $64, BX
	DECQ      CX
	JNZ       bitsGroup
	VZEROUPPER
	RET
