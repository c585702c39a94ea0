package wasm

// Opcode is an instruction's opcode. A prefix byte is its high byte: i8x16.add is 0xfd6e.
type Opcode uint16

// The instructions of WebAssembly 2.0.
const (
	OpUnreachable               Opcode = 0x00
	OpNop                       Opcode = 0x01
	OpBlock                     Opcode = 0x02
	OpLoop                      Opcode = 0x03
	OpIf                        Opcode = 0x04
	OpElse                      Opcode = 0x05
	OpEnd                       Opcode = 0x0b
	OpBr                        Opcode = 0x0c
	OpBrIf                      Opcode = 0x0d
	OpBrTable                   Opcode = 0x0e
	OpReturn                    Opcode = 0x0f
	OpCall                      Opcode = 0x10
	OpCallIndirect              Opcode = 0x11
	OpDrop                      Opcode = 0x1a
	OpSelect                    Opcode = 0x1b
	OpSelectTyped               Opcode = 0x1c
	OpLocalGet                  Opcode = 0x20
	OpLocalSet                  Opcode = 0x21
	OpLocalTee                  Opcode = 0x22
	OpGlobalGet                 Opcode = 0x23
	OpGlobalSet                 Opcode = 0x24
	OpTableGet                  Opcode = 0x25
	OpTableSet                  Opcode = 0x26
	OpI32Load                   Opcode = 0x28
	OpI64Load                   Opcode = 0x29
	OpF32Load                   Opcode = 0x2a
	OpF64Load                   Opcode = 0x2b
	OpI32Load8S                 Opcode = 0x2c
	OpI32Load8U                 Opcode = 0x2d
	OpI32Load16S                Opcode = 0x2e
	OpI32Load16U                Opcode = 0x2f
	OpI64Load8S                 Opcode = 0x30
	OpI64Load8U                 Opcode = 0x31
	OpI64Load16S                Opcode = 0x32
	OpI64Load16U                Opcode = 0x33
	OpI64Load32S                Opcode = 0x34
	OpI64Load32U                Opcode = 0x35
	OpI32Store                  Opcode = 0x36
	OpI64Store                  Opcode = 0x37
	OpF32Store                  Opcode = 0x38
	OpF64Store                  Opcode = 0x39
	OpI32Store8                 Opcode = 0x3a
	OpI32Store16                Opcode = 0x3b
	OpI64Store8                 Opcode = 0x3c
	OpI64Store16                Opcode = 0x3d
	OpI64Store32                Opcode = 0x3e
	OpMemorySize                Opcode = 0x3f
	OpMemoryGrow                Opcode = 0x40
	OpI32Const                  Opcode = 0x41
	OpI64Const                  Opcode = 0x42
	OpF32Const                  Opcode = 0x43
	OpF64Const                  Opcode = 0x44
	OpI32Eqz                    Opcode = 0x45
	OpI32Eq                     Opcode = 0x46
	OpI32Ne                     Opcode = 0x47
	OpI32LtS                    Opcode = 0x48
	OpI32LtU                    Opcode = 0x49
	OpI32GtS                    Opcode = 0x4a
	OpI32GtU                    Opcode = 0x4b
	OpI32LeS                    Opcode = 0x4c
	OpI32LeU                    Opcode = 0x4d
	OpI32GeS                    Opcode = 0x4e
	OpI32GeU                    Opcode = 0x4f
	OpI64Eqz                    Opcode = 0x50
	OpI64Eq                     Opcode = 0x51
	OpI64Ne                     Opcode = 0x52
	OpI64LtS                    Opcode = 0x53
	OpI64LtU                    Opcode = 0x54
	OpI64GtS                    Opcode = 0x55
	OpI64GtU                    Opcode = 0x56
	OpI64LeS                    Opcode = 0x57
	OpI64LeU                    Opcode = 0x58
	OpI64GeS                    Opcode = 0x59
	OpI64GeU                    Opcode = 0x5a
	OpF32Eq                     Opcode = 0x5b
	OpF32Ne                     Opcode = 0x5c
	OpF32Lt                     Opcode = 0x5d
	OpF32Gt                     Opcode = 0x5e
	OpF32Le                     Opcode = 0x5f
	OpF32Ge                     Opcode = 0x60
	OpF64Eq                     Opcode = 0x61
	OpF64Ne                     Opcode = 0x62
	OpF64Lt                     Opcode = 0x63
	OpF64Gt                     Opcode = 0x64
	OpF64Le                     Opcode = 0x65
	OpF64Ge                     Opcode = 0x66
	OpI32Clz                    Opcode = 0x67
	OpI32Ctz                    Opcode = 0x68
	OpI32Popcnt                 Opcode = 0x69
	OpI32Add                    Opcode = 0x6a
	OpI32Sub                    Opcode = 0x6b
	OpI32Mul                    Opcode = 0x6c
	OpI32DivS                   Opcode = 0x6d
	OpI32DivU                   Opcode = 0x6e
	OpI32RemS                   Opcode = 0x6f
	OpI32RemU                   Opcode = 0x70
	OpI32And                    Opcode = 0x71
	OpI32Or                     Opcode = 0x72
	OpI32Xor                    Opcode = 0x73
	OpI32Shl                    Opcode = 0x74
	OpI32ShrS                   Opcode = 0x75
	OpI32ShrU                   Opcode = 0x76
	OpI32Rotl                   Opcode = 0x77
	OpI32Rotr                   Opcode = 0x78
	OpI64Clz                    Opcode = 0x79
	OpI64Ctz                    Opcode = 0x7a
	OpI64Popcnt                 Opcode = 0x7b
	OpI64Add                    Opcode = 0x7c
	OpI64Sub                    Opcode = 0x7d
	OpI64Mul                    Opcode = 0x7e
	OpI64DivS                   Opcode = 0x7f
	OpI64DivU                   Opcode = 0x80
	OpI64RemS                   Opcode = 0x81
	OpI64RemU                   Opcode = 0x82
	OpI64And                    Opcode = 0x83
	OpI64Or                     Opcode = 0x84
	OpI64Xor                    Opcode = 0x85
	OpI64Shl                    Opcode = 0x86
	OpI64ShrS                   Opcode = 0x87
	OpI64ShrU                   Opcode = 0x88
	OpI64Rotl                   Opcode = 0x89
	OpI64Rotr                   Opcode = 0x8a
	OpF32Abs                    Opcode = 0x8b
	OpF32Neg                    Opcode = 0x8c
	OpF32Ceil                   Opcode = 0x8d
	OpF32Floor                  Opcode = 0x8e
	OpF32Trunc                  Opcode = 0x8f
	OpF32Nearest                Opcode = 0x90
	OpF32Sqrt                   Opcode = 0x91
	OpF32Add                    Opcode = 0x92
	OpF32Sub                    Opcode = 0x93
	OpF32Mul                    Opcode = 0x94
	OpF32Div                    Opcode = 0x95
	OpF32Min                    Opcode = 0x96
	OpF32Max                    Opcode = 0x97
	OpF32Copysign               Opcode = 0x98
	OpF64Abs                    Opcode = 0x99
	OpF64Neg                    Opcode = 0x9a
	OpF64Ceil                   Opcode = 0x9b
	OpF64Floor                  Opcode = 0x9c
	OpF64Trunc                  Opcode = 0x9d
	OpF64Nearest                Opcode = 0x9e
	OpF64Sqrt                   Opcode = 0x9f
	OpF64Add                    Opcode = 0xa0
	OpF64Sub                    Opcode = 0xa1
	OpF64Mul                    Opcode = 0xa2
	OpF64Div                    Opcode = 0xa3
	OpF64Min                    Opcode = 0xa4
	OpF64Max                    Opcode = 0xa5
	OpF64Copysign               Opcode = 0xa6
	OpI32WrapI64                Opcode = 0xa7
	OpI32TruncF32S              Opcode = 0xa8
	OpI32TruncF32U              Opcode = 0xa9
	OpI32TruncF64S              Opcode = 0xaa
	OpI32TruncF64U              Opcode = 0xab
	OpI64ExtendI32S             Opcode = 0xac
	OpI64ExtendI32U             Opcode = 0xad
	OpI64TruncF32S              Opcode = 0xae
	OpI64TruncF32U              Opcode = 0xaf
	OpI64TruncF64S              Opcode = 0xb0
	OpI64TruncF64U              Opcode = 0xb1
	OpF32ConvertI32S            Opcode = 0xb2
	OpF32ConvertI32U            Opcode = 0xb3
	OpF32ConvertI64S            Opcode = 0xb4
	OpF32ConvertI64U            Opcode = 0xb5
	OpF32DemoteF64              Opcode = 0xb6
	OpF64ConvertI32S            Opcode = 0xb7
	OpF64ConvertI32U            Opcode = 0xb8
	OpF64ConvertI64S            Opcode = 0xb9
	OpF64ConvertI64U            Opcode = 0xba
	OpF64PromoteF32             Opcode = 0xbb
	OpI32ReinterpretF32         Opcode = 0xbc
	OpI64ReinterpretF64         Opcode = 0xbd
	OpF32ReinterpretI32         Opcode = 0xbe
	OpF64ReinterpretI64         Opcode = 0xbf
	OpI32Extend8S               Opcode = 0xc0
	OpI32Extend16S              Opcode = 0xc1
	OpI64Extend8S               Opcode = 0xc2
	OpI64Extend16S              Opcode = 0xc3
	OpI64Extend32S              Opcode = 0xc4
	OpRefNull                   Opcode = 0xd0
	OpRefIsNull                 Opcode = 0xd1
	OpRefFunc                   Opcode = 0xd2
	OpI32TruncSatF32S           Opcode = 0xfc00
	OpI32TruncSatF32U           Opcode = 0xfc01
	OpI32TruncSatF64S           Opcode = 0xfc02
	OpI32TruncSatF64U           Opcode = 0xfc03
	OpI64TruncSatF32S           Opcode = 0xfc04
	OpI64TruncSatF32U           Opcode = 0xfc05
	OpI64TruncSatF64S           Opcode = 0xfc06
	OpI64TruncSatF64U           Opcode = 0xfc07
	OpMemoryInit                Opcode = 0xfc08
	OpDataDrop                  Opcode = 0xfc09
	OpMemoryCopy                Opcode = 0xfc0a
	OpMemoryFill                Opcode = 0xfc0b
	OpTableInit                 Opcode = 0xfc0c
	OpElemDrop                  Opcode = 0xfc0d
	OpTableCopy                 Opcode = 0xfc0e
	OpTableGrow                 Opcode = 0xfc0f
	OpTableSize                 Opcode = 0xfc10
	OpTableFill                 Opcode = 0xfc11
	OpV128Load                  Opcode = 0xfd00
	OpV128Load8x8S              Opcode = 0xfd01
	OpV128Load8x8U              Opcode = 0xfd02
	OpV128Load16x4S             Opcode = 0xfd03
	OpV128Load16x4U             Opcode = 0xfd04
	OpV128Load32x2S             Opcode = 0xfd05
	OpV128Load32x2U             Opcode = 0xfd06
	OpV128Load8Splat            Opcode = 0xfd07
	OpV128Load16Splat           Opcode = 0xfd08
	OpV128Load32Splat           Opcode = 0xfd09
	OpV128Load64Splat           Opcode = 0xfd0a
	OpV128Store                 Opcode = 0xfd0b
	OpV128Const                 Opcode = 0xfd0c
	OpI8x16Shuffle              Opcode = 0xfd0d
	OpI8x16Swizzle              Opcode = 0xfd0e
	OpI8x16Splat                Opcode = 0xfd0f
	OpI16x8Splat                Opcode = 0xfd10
	OpI32x4Splat                Opcode = 0xfd11
	OpI64x2Splat                Opcode = 0xfd12
	OpF32x4Splat                Opcode = 0xfd13
	OpF64x2Splat                Opcode = 0xfd14
	OpI8x16ExtractLaneS         Opcode = 0xfd15
	OpI8x16ExtractLaneU         Opcode = 0xfd16
	OpI8x16ReplaceLane          Opcode = 0xfd17
	OpI16x8ExtractLaneS         Opcode = 0xfd18
	OpI16x8ExtractLaneU         Opcode = 0xfd19
	OpI16x8ReplaceLane          Opcode = 0xfd1a
	OpI32x4ExtractLane          Opcode = 0xfd1b
	OpI32x4ReplaceLane          Opcode = 0xfd1c
	OpI64x2ExtractLane          Opcode = 0xfd1d
	OpI64x2ReplaceLane          Opcode = 0xfd1e
	OpF32x4ExtractLane          Opcode = 0xfd1f
	OpF32x4ReplaceLane          Opcode = 0xfd20
	OpF64x2ExtractLane          Opcode = 0xfd21
	OpF64x2ReplaceLane          Opcode = 0xfd22
	OpI8x16Eq                   Opcode = 0xfd23
	OpI8x16Ne                   Opcode = 0xfd24
	OpI8x16LtS                  Opcode = 0xfd25
	OpI8x16LtU                  Opcode = 0xfd26
	OpI8x16GtS                  Opcode = 0xfd27
	OpI8x16GtU                  Opcode = 0xfd28
	OpI8x16LeS                  Opcode = 0xfd29
	OpI8x16LeU                  Opcode = 0xfd2a
	OpI8x16GeS                  Opcode = 0xfd2b
	OpI8x16GeU                  Opcode = 0xfd2c
	OpI16x8Eq                   Opcode = 0xfd2d
	OpI16x8Ne                   Opcode = 0xfd2e
	OpI16x8LtS                  Opcode = 0xfd2f
	OpI16x8LtU                  Opcode = 0xfd30
	OpI16x8GtS                  Opcode = 0xfd31
	OpI16x8GtU                  Opcode = 0xfd32
	OpI16x8LeS                  Opcode = 0xfd33
	OpI16x8LeU                  Opcode = 0xfd34
	OpI16x8GeS                  Opcode = 0xfd35
	OpI16x8GeU                  Opcode = 0xfd36
	OpI32x4Eq                   Opcode = 0xfd37
	OpI32x4Ne                   Opcode = 0xfd38
	OpI32x4LtS                  Opcode = 0xfd39
	OpI32x4LtU                  Opcode = 0xfd3a
	OpI32x4GtS                  Opcode = 0xfd3b
	OpI32x4GtU                  Opcode = 0xfd3c
	OpI32x4LeS                  Opcode = 0xfd3d
	OpI32x4LeU                  Opcode = 0xfd3e
	OpI32x4GeS                  Opcode = 0xfd3f
	OpI32x4GeU                  Opcode = 0xfd40
	OpF32x4Eq                   Opcode = 0xfd41
	OpF32x4Ne                   Opcode = 0xfd42
	OpF32x4Lt                   Opcode = 0xfd43
	OpF32x4Gt                   Opcode = 0xfd44
	OpF32x4Le                   Opcode = 0xfd45
	OpF32x4Ge                   Opcode = 0xfd46
	OpF64x2Eq                   Opcode = 0xfd47
	OpF64x2Ne                   Opcode = 0xfd48
	OpF64x2Lt                   Opcode = 0xfd49
	OpF64x2Gt                   Opcode = 0xfd4a
	OpF64x2Le                   Opcode = 0xfd4b
	OpF64x2Ge                   Opcode = 0xfd4c
	OpV128Not                   Opcode = 0xfd4d
	OpV128And                   Opcode = 0xfd4e
	OpV128Andnot                Opcode = 0xfd4f
	OpV128Or                    Opcode = 0xfd50
	OpV128Xor                   Opcode = 0xfd51
	OpV128Bitselect             Opcode = 0xfd52
	OpV128AnyTrue               Opcode = 0xfd53
	OpV128Load8Lane             Opcode = 0xfd54
	OpV128Store8Lane            Opcode = 0xfd58
	OpV128Load16Lane            Opcode = 0xfd55
	OpV128Store16Lane           Opcode = 0xfd59
	OpV128Load32Lane            Opcode = 0xfd56
	OpV128Store32Lane           Opcode = 0xfd5a
	OpV128Load64Lane            Opcode = 0xfd57
	OpV128Store64Lane           Opcode = 0xfd5b
	OpV128Load32Zero            Opcode = 0xfd5c
	OpV128Load64Zero            Opcode = 0xfd5d
	OpF32x4DemoteF64x2Zero      Opcode = 0xfd5e
	OpF64x2PromoteLowF32x4      Opcode = 0xfd5f
	OpI8x16Abs                  Opcode = 0xfd60
	OpI8x16Neg                  Opcode = 0xfd61
	OpI8x16Popcnt               Opcode = 0xfd62
	OpI8x16AllTrue              Opcode = 0xfd63
	OpI8x16Bitmask              Opcode = 0xfd64
	OpI8x16NarrowI16x8S         Opcode = 0xfd65
	OpI8x16NarrowI16x8U         Opcode = 0xfd66
	OpF32x4Ceil                 Opcode = 0xfd67
	OpF32x4Floor                Opcode = 0xfd68
	OpF32x4Trunc                Opcode = 0xfd69
	OpF32x4Nearest              Opcode = 0xfd6a
	OpI8x16Shl                  Opcode = 0xfd6b
	OpI8x16ShrS                 Opcode = 0xfd6c
	OpI8x16ShrU                 Opcode = 0xfd6d
	OpI8x16Add                  Opcode = 0xfd6e
	OpI8x16AddSatS              Opcode = 0xfd6f
	OpI8x16AddSatU              Opcode = 0xfd70
	OpI8x16Sub                  Opcode = 0xfd71
	OpI8x16SubSatS              Opcode = 0xfd72
	OpI8x16SubSatU              Opcode = 0xfd73
	OpF64x2Ceil                 Opcode = 0xfd74
	OpF64x2Floor                Opcode = 0xfd75
	OpI8x16MinS                 Opcode = 0xfd76
	OpI8x16MinU                 Opcode = 0xfd77
	OpI8x16MaxS                 Opcode = 0xfd78
	OpI8x16MaxU                 Opcode = 0xfd79
	OpF64x2Trunc                Opcode = 0xfd7a
	OpI8x16AvgrU                Opcode = 0xfd7b
	OpI16x8ExtaddPairwiseI8x16S Opcode = 0xfd7c
	OpI16x8ExtaddPairwiseI8x16U Opcode = 0xfd7d
	OpI32x4ExtaddPairwiseI16x8S Opcode = 0xfd7e
	OpI32x4ExtaddPairwiseI16x8U Opcode = 0xfd7f
	OpI16x8Abs                  Opcode = 0xfd80
	OpI16x8Neg                  Opcode = 0xfd81
	OpI16x8Q15mulrSatS          Opcode = 0xfd82
	OpI16x8AllTrue              Opcode = 0xfd83
	OpI16x8Bitmask              Opcode = 0xfd84
	OpI16x8NarrowI32x4S         Opcode = 0xfd85
	OpI16x8NarrowI32x4U         Opcode = 0xfd86
	OpI16x8ExtendLowI8x16S      Opcode = 0xfd87
	OpI16x8ExtendHighI8x16S     Opcode = 0xfd88
	OpI16x8ExtendLowI8x16U      Opcode = 0xfd89
	OpI16x8ExtendHighI8x16U     Opcode = 0xfd8a
	OpI16x8Shl                  Opcode = 0xfd8b
	OpI16x8ShrS                 Opcode = 0xfd8c
	OpI16x8ShrU                 Opcode = 0xfd8d
	OpI16x8Add                  Opcode = 0xfd8e
	OpI16x8AddSatS              Opcode = 0xfd8f
	OpI16x8AddSatU              Opcode = 0xfd90
	OpI16x8Sub                  Opcode = 0xfd91
	OpI16x8SubSatS              Opcode = 0xfd92
	OpI16x8SubSatU              Opcode = 0xfd93
	OpF64x2Nearest              Opcode = 0xfd94
	OpI16x8Mul                  Opcode = 0xfd95
	OpI16x8MinS                 Opcode = 0xfd96
	OpI16x8MinU                 Opcode = 0xfd97
	OpI16x8MaxS                 Opcode = 0xfd98
	OpI16x8MaxU                 Opcode = 0xfd99
	OpI16x8AvgrU                Opcode = 0xfd9b
	OpI16x8ExtmulLowI8x16S      Opcode = 0xfd9c
	OpI16x8ExtmulHighI8x16S     Opcode = 0xfd9d
	OpI16x8ExtmulLowI8x16U      Opcode = 0xfd9e
	OpI16x8ExtmulHighI8x16U     Opcode = 0xfd9f
	OpI32x4Abs                  Opcode = 0xfda0
	OpI32x4Neg                  Opcode = 0xfda1
	OpI32x4AllTrue              Opcode = 0xfda3
	OpI32x4Bitmask              Opcode = 0xfda4
	OpI32x4ExtendLowI16x8S      Opcode = 0xfda7
	OpI32x4ExtendHighI16x8S     Opcode = 0xfda8
	OpI32x4ExtendLowI16x8U      Opcode = 0xfda9
	OpI32x4ExtendHighI16x8U     Opcode = 0xfdaa
	OpI32x4Shl                  Opcode = 0xfdab
	OpI32x4ShrS                 Opcode = 0xfdac
	OpI32x4ShrU                 Opcode = 0xfdad
	OpI32x4Add                  Opcode = 0xfdae
	OpI32x4Sub                  Opcode = 0xfdb1
	OpI32x4Mul                  Opcode = 0xfdb5
	OpI32x4MinS                 Opcode = 0xfdb6
	OpI32x4MinU                 Opcode = 0xfdb7
	OpI32x4MaxS                 Opcode = 0xfdb8
	OpI32x4MaxU                 Opcode = 0xfdb9
	OpI32x4DotI16x8S            Opcode = 0xfdba
	OpI32x4ExtmulLowI16x8S      Opcode = 0xfdbc
	OpI32x4ExtmulHighI16x8S     Opcode = 0xfdbd
	OpI32x4ExtmulLowI16x8U      Opcode = 0xfdbe
	OpI32x4ExtmulHighI16x8U     Opcode = 0xfdbf
	OpI64x2Abs                  Opcode = 0xfdc0
	OpI64x2Neg                  Opcode = 0xfdc1
	OpI64x2AllTrue              Opcode = 0xfdc3
	OpI64x2Bitmask              Opcode = 0xfdc4
	OpI64x2ExtendLowI32x4S      Opcode = 0xfdc7
	OpI64x2ExtendHighI32x4S     Opcode = 0xfdc8
	OpI64x2ExtendLowI32x4U      Opcode = 0xfdc9
	OpI64x2ExtendHighI32x4U     Opcode = 0xfdca
	OpI64x2Shl                  Opcode = 0xfdcb
	OpI64x2ShrS                 Opcode = 0xfdcc
	OpI64x2ShrU                 Opcode = 0xfdcd
	OpI64x2Add                  Opcode = 0xfdce
	OpI64x2Sub                  Opcode = 0xfdd1
	OpI64x2Mul                  Opcode = 0xfdd5
	OpI64x2Eq                   Opcode = 0xfdd6
	OpI64x2Ne                   Opcode = 0xfdd7
	OpI64x2LtS                  Opcode = 0xfdd8
	OpI64x2GtS                  Opcode = 0xfdd9
	OpI64x2LeS                  Opcode = 0xfdda
	OpI64x2GeS                  Opcode = 0xfddb
	OpI64x2ExtmulLowI32x4S      Opcode = 0xfddc
	OpI64x2ExtmulHighI32x4S     Opcode = 0xfddd
	OpI64x2ExtmulLowI32x4U      Opcode = 0xfdde
	OpI64x2ExtmulHighI32x4U     Opcode = 0xfddf
	OpF32x4Abs                  Opcode = 0xfde0
	OpF32x4Neg                  Opcode = 0xfde1
	OpF32x4Sqrt                 Opcode = 0xfde3
	OpF32x4Add                  Opcode = 0xfde4
	OpF32x4Sub                  Opcode = 0xfde5
	OpF32x4Mul                  Opcode = 0xfde6
	OpF32x4Div                  Opcode = 0xfde7
	OpF32x4Min                  Opcode = 0xfde8
	OpF32x4Max                  Opcode = 0xfde9
	OpF32x4Pmin                 Opcode = 0xfdea
	OpF32x4Pmax                 Opcode = 0xfdeb
	OpF64x2Abs                  Opcode = 0xfdec
	OpF64x2Neg                  Opcode = 0xfded
	OpF64x2Sqrt                 Opcode = 0xfdef
	OpF64x2Add                  Opcode = 0xfdf0
	OpF64x2Sub                  Opcode = 0xfdf1
	OpF64x2Mul                  Opcode = 0xfdf2
	OpF64x2Div                  Opcode = 0xfdf3
	OpF64x2Min                  Opcode = 0xfdf4
	OpF64x2Max                  Opcode = 0xfdf5
	OpF64x2Pmin                 Opcode = 0xfdf6
	OpF64x2Pmax                 Opcode = 0xfdf7
	OpI32x4TruncSatF32x4S       Opcode = 0xfdf8
	OpI32x4TruncSatF32x4U       Opcode = 0xfdf9
	OpF32x4ConvertI32x4S        Opcode = 0xfdfa
	OpF32x4ConvertI32x4U        Opcode = 0xfdfb
	OpI32x4TruncSatF64x2SZero   Opcode = 0xfdfc
	OpI32x4TruncSatF64x2UZero   Opcode = 0xfdfd
	OpF64x2ConvertLowI32x4S     Opcode = 0xfdfe
	OpF64x2ConvertLowI32x4U     Opcode = 0xfdff
)

// opcodeForm describes an instruction's encoding and, if fixed, its operand and result types, separated by a colon: i32 i,
// i64 I, f32 f, f64 F, v128 v. size is the largest alignment of a memory access, as a power of two, or the number of
// lanes.
type opcodeForm struct {
	name      string
	imm       immediate
	size      byte
	signature string
}

// plainOps are the one-byte instructions. An entry without a name is unassigned.
var plainOps = [256]opcodeForm{
	0x00: {name: "unreachable"},
	0x01: {name: "nop"},
	0x02: {name: "block", imm: immBlock},
	0x03: {name: "loop", imm: immBlock},
	0x04: {name: "if", imm: immBlock},
	0x05: {name: "else"},
	0x0b: {name: "end"},
	0x0c: {name: "br", imm: immIndex},
	0x0d: {name: "br_if", imm: immIndex},
	0x0e: {name: "br_table", imm: immBranches},
	0x0f: {name: "return"},
	0x10: {name: "call", imm: immIndex},
	0x11: {name: "call_indirect", imm: immIndexes},
	0x1a: {name: "drop"},
	0x1b: {name: "select"},
	0x1c: {name: "select", imm: immTypes},
	0x20: {name: "local.get", imm: immIndex},
	0x21: {name: "local.set", imm: immIndex},
	0x22: {name: "local.tee", imm: immIndex},
	0x23: {name: "global.get", imm: immIndex},
	0x24: {name: "global.set", imm: immIndex},
	0x25: {name: "table.get", imm: immIndex},
	0x26: {name: "table.set", imm: immIndex},
	0x28: {name: "i32.load", imm: immMemory, size: 2, signature: "i:i"},
	0x29: {name: "i64.load", imm: immMemory, size: 3, signature: "i:I"},
	0x2a: {name: "f32.load", imm: immMemory, size: 2, signature: "i:f"},
	0x2b: {name: "f64.load", imm: immMemory, size: 3, signature: "i:F"},
	0x2c: {name: "i32.load8_s", imm: immMemory, signature: "i:i"},
	0x2d: {name: "i32.load8_u", imm: immMemory, signature: "i:i"},
	0x2e: {name: "i32.load16_s", imm: immMemory, size: 1, signature: "i:i"},
	0x2f: {name: "i32.load16_u", imm: immMemory, size: 1, signature: "i:i"},
	0x30: {name: "i64.load8_s", imm: immMemory, signature: "i:I"},
	0x31: {name: "i64.load8_u", imm: immMemory, signature: "i:I"},
	0x32: {name: "i64.load16_s", imm: immMemory, size: 1, signature: "i:I"},
	0x33: {name: "i64.load16_u", imm: immMemory, size: 1, signature: "i:I"},
	0x34: {name: "i64.load32_s", imm: immMemory, size: 2, signature: "i:I"},
	0x35: {name: "i64.load32_u", imm: immMemory, size: 2, signature: "i:I"},
	0x36: {name: "i32.store", imm: immMemory, size: 2, signature: "ii:"},
	0x37: {name: "i64.store", imm: immMemory, size: 3, signature: "iI:"},
	0x38: {name: "f32.store", imm: immMemory, size: 2, signature: "if:"},
	0x39: {name: "f64.store", imm: immMemory, size: 3, signature: "iF:"},
	0x3a: {name: "i32.store8", imm: immMemory, signature: "ii:"},
	0x3b: {name: "i32.store16", imm: immMemory, size: 1, signature: "ii:"},
	0x3c: {name: "i64.store8", imm: immMemory, signature: "iI:"},
	0x3d: {name: "i64.store16", imm: immMemory, size: 1, signature: "iI:"},
	0x3e: {name: "i64.store32", imm: immMemory, size: 2, signature: "iI:"},
	0x3f: {name: "memory.size", imm: immZero, signature: ":i"},
	0x40: {name: "memory.grow", imm: immZero, signature: "i:i"},
	0x41: {name: "i32.const", imm: immI32, signature: ":i"},
	0x42: {name: "i64.const", imm: immI64, signature: ":I"},
	0x43: {name: "f32.const", imm: immF32, signature: ":f"},
	0x44: {name: "f64.const", imm: immF64, signature: ":F"},
	0x45: {name: "i32.eqz", signature: "i:i"},
	0x46: {name: "i32.eq", signature: "ii:i"},
	0x47: {name: "i32.ne", signature: "ii:i"},
	0x48: {name: "i32.lt_s", signature: "ii:i"},
	0x49: {name: "i32.lt_u", signature: "ii:i"},
	0x4a: {name: "i32.gt_s", signature: "ii:i"},
	0x4b: {name: "i32.gt_u", signature: "ii:i"},
	0x4c: {name: "i32.le_s", signature: "ii:i"},
	0x4d: {name: "i32.le_u", signature: "ii:i"},
	0x4e: {name: "i32.ge_s", signature: "ii:i"},
	0x4f: {name: "i32.ge_u", signature: "ii:i"},
	0x50: {name: "i64.eqz", signature: "I:i"},
	0x51: {name: "i64.eq", signature: "II:i"},
	0x52: {name: "i64.ne", signature: "II:i"},
	0x53: {name: "i64.lt_s", signature: "II:i"},
	0x54: {name: "i64.lt_u", signature: "II:i"},
	0x55: {name: "i64.gt_s", signature: "II:i"},
	0x56: {name: "i64.gt_u", signature: "II:i"},
	0x57: {name: "i64.le_s", signature: "II:i"},
	0x58: {name: "i64.le_u", signature: "II:i"},
	0x59: {name: "i64.ge_s", signature: "II:i"},
	0x5a: {name: "i64.ge_u", signature: "II:i"},
	0x5b: {name: "f32.eq", signature: "ff:i"},
	0x5c: {name: "f32.ne", signature: "ff:i"},
	0x5d: {name: "f32.lt", signature: "ff:i"},
	0x5e: {name: "f32.gt", signature: "ff:i"},
	0x5f: {name: "f32.le", signature: "ff:i"},
	0x60: {name: "f32.ge", signature: "ff:i"},
	0x61: {name: "f64.eq", signature: "FF:i"},
	0x62: {name: "f64.ne", signature: "FF:i"},
	0x63: {name: "f64.lt", signature: "FF:i"},
	0x64: {name: "f64.gt", signature: "FF:i"},
	0x65: {name: "f64.le", signature: "FF:i"},
	0x66: {name: "f64.ge", signature: "FF:i"},
	0x67: {name: "i32.clz", signature: "i:i"},
	0x68: {name: "i32.ctz", signature: "i:i"},
	0x69: {name: "i32.popcnt", signature: "i:i"},
	0x6a: {name: "i32.add", signature: "ii:i"},
	0x6b: {name: "i32.sub", signature: "ii:i"},
	0x6c: {name: "i32.mul", signature: "ii:i"},
	0x6d: {name: "i32.div_s", signature: "ii:i"},
	0x6e: {name: "i32.div_u", signature: "ii:i"},
	0x6f: {name: "i32.rem_s", signature: "ii:i"},
	0x70: {name: "i32.rem_u", signature: "ii:i"},
	0x71: {name: "i32.and", signature: "ii:i"},
	0x72: {name: "i32.or", signature: "ii:i"},
	0x73: {name: "i32.xor", signature: "ii:i"},
	0x74: {name: "i32.shl", signature: "ii:i"},
	0x75: {name: "i32.shr_s", signature: "ii:i"},
	0x76: {name: "i32.shr_u", signature: "ii:i"},
	0x77: {name: "i32.rotl", signature: "ii:i"},
	0x78: {name: "i32.rotr", signature: "ii:i"},
	0x79: {name: "i64.clz", signature: "I:I"},
	0x7a: {name: "i64.ctz", signature: "I:I"},
	0x7b: {name: "i64.popcnt", signature: "I:I"},
	0x7c: {name: "i64.add", signature: "II:I"},
	0x7d: {name: "i64.sub", signature: "II:I"},
	0x7e: {name: "i64.mul", signature: "II:I"},
	0x7f: {name: "i64.div_s", signature: "II:I"},
	0x80: {name: "i64.div_u", signature: "II:I"},
	0x81: {name: "i64.rem_s", signature: "II:I"},
	0x82: {name: "i64.rem_u", signature: "II:I"},
	0x83: {name: "i64.and", signature: "II:I"},
	0x84: {name: "i64.or", signature: "II:I"},
	0x85: {name: "i64.xor", signature: "II:I"},
	0x86: {name: "i64.shl", signature: "II:I"},
	0x87: {name: "i64.shr_s", signature: "II:I"},
	0x88: {name: "i64.shr_u", signature: "II:I"},
	0x89: {name: "i64.rotl", signature: "II:I"},
	0x8a: {name: "i64.rotr", signature: "II:I"},
	0x8b: {name: "f32.abs", signature: "f:f"},
	0x8c: {name: "f32.neg", signature: "f:f"},
	0x8d: {name: "f32.ceil", signature: "f:f"},
	0x8e: {name: "f32.floor", signature: "f:f"},
	0x8f: {name: "f32.trunc", signature: "f:f"},
	0x90: {name: "f32.nearest", signature: "f:f"},
	0x91: {name: "f32.sqrt", signature: "f:f"},
	0x92: {name: "f32.add", signature: "ff:f"},
	0x93: {name: "f32.sub", signature: "ff:f"},
	0x94: {name: "f32.mul", signature: "ff:f"},
	0x95: {name: "f32.div", signature: "ff:f"},
	0x96: {name: "f32.min", signature: "ff:f"},
	0x97: {name: "f32.max", signature: "ff:f"},
	0x98: {name: "f32.copysign", signature: "ff:f"},
	0x99: {name: "f64.abs", signature: "F:F"},
	0x9a: {name: "f64.neg", signature: "F:F"},
	0x9b: {name: "f64.ceil", signature: "F:F"},
	0x9c: {name: "f64.floor", signature: "F:F"},
	0x9d: {name: "f64.trunc", signature: "F:F"},
	0x9e: {name: "f64.nearest", signature: "F:F"},
	0x9f: {name: "f64.sqrt", signature: "F:F"},
	0xa0: {name: "f64.add", signature: "FF:F"},
	0xa1: {name: "f64.sub", signature: "FF:F"},
	0xa2: {name: "f64.mul", signature: "FF:F"},
	0xa3: {name: "f64.div", signature: "FF:F"},
	0xa4: {name: "f64.min", signature: "FF:F"},
	0xa5: {name: "f64.max", signature: "FF:F"},
	0xa6: {name: "f64.copysign", signature: "FF:F"},
	0xa7: {name: "i32.wrap_i64", signature: "I:i"},
	0xa8: {name: "i32.trunc_f32_s", signature: "f:i"},
	0xa9: {name: "i32.trunc_f32_u", signature: "f:i"},
	0xaa: {name: "i32.trunc_f64_s", signature: "F:i"},
	0xab: {name: "i32.trunc_f64_u", signature: "F:i"},
	0xac: {name: "i64.extend_i32_s", signature: "i:I"},
	0xad: {name: "i64.extend_i32_u", signature: "i:I"},
	0xae: {name: "i64.trunc_f32_s", signature: "f:I"},
	0xaf: {name: "i64.trunc_f32_u", signature: "f:I"},
	0xb0: {name: "i64.trunc_f64_s", signature: "F:I"},
	0xb1: {name: "i64.trunc_f64_u", signature: "F:I"},
	0xb2: {name: "f32.convert_i32_s", signature: "i:f"},
	0xb3: {name: "f32.convert_i32_u", signature: "i:f"},
	0xb4: {name: "f32.convert_i64_s", signature: "I:f"},
	0xb5: {name: "f32.convert_i64_u", signature: "I:f"},
	0xb6: {name: "f32.demote_f64", signature: "F:f"},
	0xb7: {name: "f64.convert_i32_s", signature: "i:F"},
	0xb8: {name: "f64.convert_i32_u", signature: "i:F"},
	0xb9: {name: "f64.convert_i64_s", signature: "I:F"},
	0xba: {name: "f64.convert_i64_u", signature: "I:F"},
	0xbb: {name: "f64.promote_f32", signature: "f:F"},
	0xbc: {name: "i32.reinterpret_f32", signature: "f:i"},
	0xbd: {name: "i64.reinterpret_f64", signature: "F:I"},
	0xbe: {name: "f32.reinterpret_i32", signature: "i:f"},
	0xbf: {name: "f64.reinterpret_i64", signature: "I:F"},
	0xc0: {name: "i32.extend8_s", signature: "i:i"},
	0xc1: {name: "i32.extend16_s", signature: "i:i"},
	0xc2: {name: "i64.extend8_s", signature: "I:I"},
	0xc3: {name: "i64.extend16_s", signature: "I:I"},
	0xc4: {name: "i64.extend32_s", signature: "I:I"},
	0xd0: {name: "ref.null", imm: immReftype},
	0xd1: {name: "ref.is_null"},
	0xd2: {name: "ref.func", imm: immIndex},
}

// bulkOps are the instructions with prefix 0xfc. An entry without a name is unassigned.
var bulkOps = [18]opcodeForm{
	0x00: {name: "i32.trunc_sat_f32_s", signature: "f:i"},
	0x01: {name: "i32.trunc_sat_f32_u", signature: "f:i"},
	0x02: {name: "i32.trunc_sat_f64_s", signature: "F:i"},
	0x03: {name: "i32.trunc_sat_f64_u", signature: "F:i"},
	0x04: {name: "i64.trunc_sat_f32_s", signature: "f:I"},
	0x05: {name: "i64.trunc_sat_f32_u", signature: "f:I"},
	0x06: {name: "i64.trunc_sat_f64_s", signature: "F:I"},
	0x07: {name: "i64.trunc_sat_f64_u", signature: "F:I"},
	0x08: {name: "memory.init", imm: immIndexZero, signature: "iii:"},
	0x09: {name: "data.drop", imm: immIndex, signature: ":"},
	0x0a: {name: "memory.copy", imm: immZeros, signature: "iii:"},
	0x0b: {name: "memory.fill", imm: immZero, signature: "iii:"},
	0x0c: {name: "table.init", imm: immIndexes, signature: "iii:"},
	0x0d: {name: "elem.drop", imm: immIndex, signature: ":"},
	0x0e: {name: "table.copy", imm: immIndexes, signature: "iii:"},
	0x0f: {name: "table.grow", imm: immIndex},
	0x10: {name: "table.size", imm: immIndex, signature: ":i"},
	0x11: {name: "table.fill", imm: immIndex},
}

// vectorOps are the instructions with prefix 0xfd. An entry without a name is unassigned.
var vectorOps = [256]opcodeForm{
	0x00: {name: "v128.load", imm: immMemory, size: 4, signature: "i:v"},
	0x01: {name: "v128.load8x8_s", imm: immMemory, size: 3, signature: "i:v"},
	0x02: {name: "v128.load8x8_u", imm: immMemory, size: 3, signature: "i:v"},
	0x03: {name: "v128.load16x4_s", imm: immMemory, size: 3, signature: "i:v"},
	0x04: {name: "v128.load16x4_u", imm: immMemory, size: 3, signature: "i:v"},
	0x05: {name: "v128.load32x2_s", imm: immMemory, size: 3, signature: "i:v"},
	0x06: {name: "v128.load32x2_u", imm: immMemory, size: 3, signature: "i:v"},
	0x07: {name: "v128.load8_splat", imm: immMemory, signature: "i:v"},
	0x08: {name: "v128.load16_splat", imm: immMemory, size: 1, signature: "i:v"},
	0x09: {name: "v128.load32_splat", imm: immMemory, size: 2, signature: "i:v"},
	0x0a: {name: "v128.load64_splat", imm: immMemory, size: 3, signature: "i:v"},
	0x0b: {name: "v128.store", imm: immMemory, size: 4, signature: "iv:"},
	0x0c: {name: "v128.const", imm: immV128, signature: ":v"},
	0x0d: {name: "i8x16.shuffle", imm: immShuffle, signature: "vv:v"},
	0x0e: {name: "i8x16.swizzle", signature: "vv:v"},
	0x0f: {name: "i8x16.splat", signature: "i:v"},
	0x10: {name: "i16x8.splat", signature: "i:v"},
	0x11: {name: "i32x4.splat", signature: "i:v"},
	0x12: {name: "i64x2.splat", signature: "I:v"},
	0x13: {name: "f32x4.splat", signature: "f:v"},
	0x14: {name: "f64x2.splat", signature: "F:v"},
	0x15: {name: "i8x16.extract_lane_s", imm: immLane, size: 16, signature: "v:i"},
	0x16: {name: "i8x16.extract_lane_u", imm: immLane, size: 16, signature: "v:i"},
	0x17: {name: "i8x16.replace_lane", imm: immLane, size: 16, signature: "vi:v"},
	0x18: {name: "i16x8.extract_lane_s", imm: immLane, size: 8, signature: "v:i"},
	0x19: {name: "i16x8.extract_lane_u", imm: immLane, size: 8, signature: "v:i"},
	0x1a: {name: "i16x8.replace_lane", imm: immLane, size: 8, signature: "vi:v"},
	0x1b: {name: "i32x4.extract_lane", imm: immLane, size: 4, signature: "v:i"},
	0x1c: {name: "i32x4.replace_lane", imm: immLane, size: 4, signature: "vi:v"},
	0x1d: {name: "i64x2.extract_lane", imm: immLane, size: 2, signature: "v:I"},
	0x1e: {name: "i64x2.replace_lane", imm: immLane, size: 2, signature: "vI:v"},
	0x1f: {name: "f32x4.extract_lane", imm: immLane, size: 4, signature: "v:f"},
	0x20: {name: "f32x4.replace_lane", imm: immLane, size: 4, signature: "vf:v"},
	0x21: {name: "f64x2.extract_lane", imm: immLane, size: 2, signature: "v:F"},
	0x22: {name: "f64x2.replace_lane", imm: immLane, size: 2, signature: "vF:v"},
	0x23: {name: "i8x16.eq", signature: "vv:v"},
	0x24: {name: "i8x16.ne", signature: "vv:v"},
	0x25: {name: "i8x16.lt_s", signature: "vv:v"},
	0x26: {name: "i8x16.lt_u", signature: "vv:v"},
	0x27: {name: "i8x16.gt_s", signature: "vv:v"},
	0x28: {name: "i8x16.gt_u", signature: "vv:v"},
	0x29: {name: "i8x16.le_s", signature: "vv:v"},
	0x2a: {name: "i8x16.le_u", signature: "vv:v"},
	0x2b: {name: "i8x16.ge_s", signature: "vv:v"},
	0x2c: {name: "i8x16.ge_u", signature: "vv:v"},
	0x2d: {name: "i16x8.eq", signature: "vv:v"},
	0x2e: {name: "i16x8.ne", signature: "vv:v"},
	0x2f: {name: "i16x8.lt_s", signature: "vv:v"},
	0x30: {name: "i16x8.lt_u", signature: "vv:v"},
	0x31: {name: "i16x8.gt_s", signature: "vv:v"},
	0x32: {name: "i16x8.gt_u", signature: "vv:v"},
	0x33: {name: "i16x8.le_s", signature: "vv:v"},
	0x34: {name: "i16x8.le_u", signature: "vv:v"},
	0x35: {name: "i16x8.ge_s", signature: "vv:v"},
	0x36: {name: "i16x8.ge_u", signature: "vv:v"},
	0x37: {name: "i32x4.eq", signature: "vv:v"},
	0x38: {name: "i32x4.ne", signature: "vv:v"},
	0x39: {name: "i32x4.lt_s", signature: "vv:v"},
	0x3a: {name: "i32x4.lt_u", signature: "vv:v"},
	0x3b: {name: "i32x4.gt_s", signature: "vv:v"},
	0x3c: {name: "i32x4.gt_u", signature: "vv:v"},
	0x3d: {name: "i32x4.le_s", signature: "vv:v"},
	0x3e: {name: "i32x4.le_u", signature: "vv:v"},
	0x3f: {name: "i32x4.ge_s", signature: "vv:v"},
	0x40: {name: "i32x4.ge_u", signature: "vv:v"},
	0x41: {name: "f32x4.eq", signature: "vv:v"},
	0x42: {name: "f32x4.ne", signature: "vv:v"},
	0x43: {name: "f32x4.lt", signature: "vv:v"},
	0x44: {name: "f32x4.gt", signature: "vv:v"},
	0x45: {name: "f32x4.le", signature: "vv:v"},
	0x46: {name: "f32x4.ge", signature: "vv:v"},
	0x47: {name: "f64x2.eq", signature: "vv:v"},
	0x48: {name: "f64x2.ne", signature: "vv:v"},
	0x49: {name: "f64x2.lt", signature: "vv:v"},
	0x4a: {name: "f64x2.gt", signature: "vv:v"},
	0x4b: {name: "f64x2.le", signature: "vv:v"},
	0x4c: {name: "f64x2.ge", signature: "vv:v"},
	0x4d: {name: "v128.not", signature: "v:v"},
	0x4e: {name: "v128.and", signature: "vv:v"},
	0x4f: {name: "v128.andnot", signature: "vv:v"},
	0x50: {name: "v128.or", signature: "vv:v"},
	0x51: {name: "v128.xor", signature: "vv:v"},
	0x52: {name: "v128.bitselect", signature: "vvv:v"},
	0x53: {name: "v128.any_true", signature: "v:i"},
	0x54: {name: "v128.load8_lane", imm: immMemoryLane, signature: "iv:v"},
	0x58: {name: "v128.store8_lane", imm: immMemoryLane, signature: "iv:"},
	0x55: {name: "v128.load16_lane", imm: immMemoryLane, size: 1, signature: "iv:v"},
	0x59: {name: "v128.store16_lane", imm: immMemoryLane, size: 1, signature: "iv:"},
	0x56: {name: "v128.load32_lane", imm: immMemoryLane, size: 2, signature: "iv:v"},
	0x5a: {name: "v128.store32_lane", imm: immMemoryLane, size: 2, signature: "iv:"},
	0x57: {name: "v128.load64_lane", imm: immMemoryLane, size: 3, signature: "iv:v"},
	0x5b: {name: "v128.store64_lane", imm: immMemoryLane, size: 3, signature: "iv:"},
	0x5c: {name: "v128.load32_zero", imm: immMemory, size: 2, signature: "i:v"},
	0x5d: {name: "v128.load64_zero", imm: immMemory, size: 3, signature: "i:v"},
	0x5e: {name: "f32x4.demote_f64x2_zero", signature: "v:v"},
	0x5f: {name: "f64x2.promote_low_f32x4", signature: "v:v"},
	0x60: {name: "i8x16.abs", signature: "v:v"},
	0x61: {name: "i8x16.neg", signature: "v:v"},
	0x62: {name: "i8x16.popcnt", signature: "v:v"},
	0x63: {name: "i8x16.all_true", signature: "v:i"},
	0x64: {name: "i8x16.bitmask", signature: "v:i"},
	0x65: {name: "i8x16.narrow_i16x8_s", signature: "vv:v"},
	0x66: {name: "i8x16.narrow_i16x8_u", signature: "vv:v"},
	0x67: {name: "f32x4.ceil", signature: "v:v"},
	0x68: {name: "f32x4.floor", signature: "v:v"},
	0x69: {name: "f32x4.trunc", signature: "v:v"},
	0x6a: {name: "f32x4.nearest", signature: "v:v"},
	0x6b: {name: "i8x16.shl", signature: "vi:v"},
	0x6c: {name: "i8x16.shr_s", signature: "vi:v"},
	0x6d: {name: "i8x16.shr_u", signature: "vi:v"},
	0x6e: {name: "i8x16.add", signature: "vv:v"},
	0x6f: {name: "i8x16.add_sat_s", signature: "vv:v"},
	0x70: {name: "i8x16.add_sat_u", signature: "vv:v"},
	0x71: {name: "i8x16.sub", signature: "vv:v"},
	0x72: {name: "i8x16.sub_sat_s", signature: "vv:v"},
	0x73: {name: "i8x16.sub_sat_u", signature: "vv:v"},
	0x74: {name: "f64x2.ceil", signature: "v:v"},
	0x75: {name: "f64x2.floor", signature: "v:v"},
	0x76: {name: "i8x16.min_s", signature: "vv:v"},
	0x77: {name: "i8x16.min_u", signature: "vv:v"},
	0x78: {name: "i8x16.max_s", signature: "vv:v"},
	0x79: {name: "i8x16.max_u", signature: "vv:v"},
	0x7a: {name: "f64x2.trunc", signature: "v:v"},
	0x7b: {name: "i8x16.avgr_u", signature: "vv:v"},
	0x7c: {name: "i16x8.extadd_pairwise_i8x16_s", signature: "v:v"},
	0x7d: {name: "i16x8.extadd_pairwise_i8x16_u", signature: "v:v"},
	0x7e: {name: "i32x4.extadd_pairwise_i16x8_s", signature: "v:v"},
	0x7f: {name: "i32x4.extadd_pairwise_i16x8_u", signature: "v:v"},
	0x80: {name: "i16x8.abs", signature: "v:v"},
	0x81: {name: "i16x8.neg", signature: "v:v"},
	0x82: {name: "i16x8.q15mulr_sat_s", signature: "vv:v"},
	0x83: {name: "i16x8.all_true", signature: "v:i"},
	0x84: {name: "i16x8.bitmask", signature: "v:i"},
	0x85: {name: "i16x8.narrow_i32x4_s", signature: "vv:v"},
	0x86: {name: "i16x8.narrow_i32x4_u", signature: "vv:v"},
	0x87: {name: "i16x8.extend_low_i8x16_s", signature: "v:v"},
	0x88: {name: "i16x8.extend_high_i8x16_s", signature: "v:v"},
	0x89: {name: "i16x8.extend_low_i8x16_u", signature: "v:v"},
	0x8a: {name: "i16x8.extend_high_i8x16_u", signature: "v:v"},
	0x8b: {name: "i16x8.shl", signature: "vi:v"},
	0x8c: {name: "i16x8.shr_s", signature: "vi:v"},
	0x8d: {name: "i16x8.shr_u", signature: "vi:v"},
	0x8e: {name: "i16x8.add", signature: "vv:v"},
	0x8f: {name: "i16x8.add_sat_s", signature: "vv:v"},
	0x90: {name: "i16x8.add_sat_u", signature: "vv:v"},
	0x91: {name: "i16x8.sub", signature: "vv:v"},
	0x92: {name: "i16x8.sub_sat_s", signature: "vv:v"},
	0x93: {name: "i16x8.sub_sat_u", signature: "vv:v"},
	0x94: {name: "f64x2.nearest", signature: "v:v"},
	0x95: {name: "i16x8.mul", signature: "vv:v"},
	0x96: {name: "i16x8.min_s", signature: "vv:v"},
	0x97: {name: "i16x8.min_u", signature: "vv:v"},
	0x98: {name: "i16x8.max_s", signature: "vv:v"},
	0x99: {name: "i16x8.max_u", signature: "vv:v"},
	0x9b: {name: "i16x8.avgr_u", signature: "vv:v"},
	0x9c: {name: "i16x8.extmul_low_i8x16_s", signature: "vv:v"},
	0x9d: {name: "i16x8.extmul_high_i8x16_s", signature: "vv:v"},
	0x9e: {name: "i16x8.extmul_low_i8x16_u", signature: "vv:v"},
	0x9f: {name: "i16x8.extmul_high_i8x16_u", signature: "vv:v"},
	0xa0: {name: "i32x4.abs", signature: "v:v"},
	0xa1: {name: "i32x4.neg", signature: "v:v"},
	0xa3: {name: "i32x4.all_true", signature: "v:i"},
	0xa4: {name: "i32x4.bitmask", signature: "v:i"},
	0xa7: {name: "i32x4.extend_low_i16x8_s", signature: "v:v"},
	0xa8: {name: "i32x4.extend_high_i16x8_s", signature: "v:v"},
	0xa9: {name: "i32x4.extend_low_i16x8_u", signature: "v:v"},
	0xaa: {name: "i32x4.extend_high_i16x8_u", signature: "v:v"},
	0xab: {name: "i32x4.shl", signature: "vi:v"},
	0xac: {name: "i32x4.shr_s", signature: "vi:v"},
	0xad: {name: "i32x4.shr_u", signature: "vi:v"},
	0xae: {name: "i32x4.add", signature: "vv:v"},
	0xb1: {name: "i32x4.sub", signature: "vv:v"},
	0xb5: {name: "i32x4.mul", signature: "vv:v"},
	0xb6: {name: "i32x4.min_s", signature: "vv:v"},
	0xb7: {name: "i32x4.min_u", signature: "vv:v"},
	0xb8: {name: "i32x4.max_s", signature: "vv:v"},
	0xb9: {name: "i32x4.max_u", signature: "vv:v"},
	0xba: {name: "i32x4.dot_i16x8_s", signature: "vv:v"},
	0xbc: {name: "i32x4.extmul_low_i16x8_s", signature: "vv:v"},
	0xbd: {name: "i32x4.extmul_high_i16x8_s", signature: "vv:v"},
	0xbe: {name: "i32x4.extmul_low_i16x8_u", signature: "vv:v"},
	0xbf: {name: "i32x4.extmul_high_i16x8_u", signature: "vv:v"},
	0xc0: {name: "i64x2.abs", signature: "v:v"},
	0xc1: {name: "i64x2.neg", signature: "v:v"},
	0xc3: {name: "i64x2.all_true", signature: "v:i"},
	0xc4: {name: "i64x2.bitmask", signature: "v:i"},
	0xc7: {name: "i64x2.extend_low_i32x4_s", signature: "v:v"},
	0xc8: {name: "i64x2.extend_high_i32x4_s", signature: "v:v"},
	0xc9: {name: "i64x2.extend_low_i32x4_u", signature: "v:v"},
	0xca: {name: "i64x2.extend_high_i32x4_u", signature: "v:v"},
	0xcb: {name: "i64x2.shl", signature: "vi:v"},
	0xcc: {name: "i64x2.shr_s", signature: "vi:v"},
	0xcd: {name: "i64x2.shr_u", signature: "vi:v"},
	0xce: {name: "i64x2.add", signature: "vv:v"},
	0xd1: {name: "i64x2.sub", signature: "vv:v"},
	0xd5: {name: "i64x2.mul", signature: "vv:v"},
	0xd6: {name: "i64x2.eq", signature: "vv:v"},
	0xd7: {name: "i64x2.ne", signature: "vv:v"},
	0xd8: {name: "i64x2.lt_s", signature: "vv:v"},
	0xd9: {name: "i64x2.gt_s", signature: "vv:v"},
	0xda: {name: "i64x2.le_s", signature: "vv:v"},
	0xdb: {name: "i64x2.ge_s", signature: "vv:v"},
	0xdc: {name: "i64x2.extmul_low_i32x4_s", signature: "vv:v"},
	0xdd: {name: "i64x2.extmul_high_i32x4_s", signature: "vv:v"},
	0xde: {name: "i64x2.extmul_low_i32x4_u", signature: "vv:v"},
	0xdf: {name: "i64x2.extmul_high_i32x4_u", signature: "vv:v"},
	0xe0: {name: "f32x4.abs", signature: "v:v"},
	0xe1: {name: "f32x4.neg", signature: "v:v"},
	0xe3: {name: "f32x4.sqrt", signature: "v:v"},
	0xe4: {name: "f32x4.add", signature: "vv:v"},
	0xe5: {name: "f32x4.sub", signature: "vv:v"},
	0xe6: {name: "f32x4.mul", signature: "vv:v"},
	0xe7: {name: "f32x4.div", signature: "vv:v"},
	0xe8: {name: "f32x4.min", signature: "vv:v"},
	0xe9: {name: "f32x4.max", signature: "vv:v"},
	0xea: {name: "f32x4.pmin", signature: "vv:v"},
	0xeb: {name: "f32x4.pmax", signature: "vv:v"},
	0xec: {name: "f64x2.abs", signature: "v:v"},
	0xed: {name: "f64x2.neg", signature: "v:v"},
	0xef: {name: "f64x2.sqrt", signature: "v:v"},
	0xf0: {name: "f64x2.add", signature: "vv:v"},
	0xf1: {name: "f64x2.sub", signature: "vv:v"},
	0xf2: {name: "f64x2.mul", signature: "vv:v"},
	0xf3: {name: "f64x2.div", signature: "vv:v"},
	0xf4: {name: "f64x2.min", signature: "vv:v"},
	0xf5: {name: "f64x2.max", signature: "vv:v"},
	0xf6: {name: "f64x2.pmin", signature: "vv:v"},
	0xf7: {name: "f64x2.pmax", signature: "vv:v"},
	0xf8: {name: "i32x4.trunc_sat_f32x4_s", signature: "v:v"},
	0xf9: {name: "i32x4.trunc_sat_f32x4_u", signature: "v:v"},
	0xfa: {name: "f32x4.convert_i32x4_s", signature: "v:v"},
	0xfb: {name: "f32x4.convert_i32x4_u", signature: "v:v"},
	0xfc: {name: "i32x4.trunc_sat_f64x2_s_zero", signature: "v:v"},
	0xfd: {name: "i32x4.trunc_sat_f64x2_u_zero", signature: "v:v"},
	0xfe: {name: "f64x2.convert_low_i32x4_s", signature: "v:v"},
	0xff: {name: "f64x2.convert_low_i32x4_u", signature: "v:v"},
}
