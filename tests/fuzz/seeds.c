/* seeds.c - inputs to start from, one of every kind of line a target reads. With a folder as its
 * argument the program made of it writes them there as files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz.h"

#define SEED(target, text) {target, text, sizeof(text) - 1}
/* Options and cut of the targets that begin with two bytes of them. */
#define OPT "\x00\x04"
#define ALL "\x0f\x02"
#define LAVA(text) \
  "- {\"dt\": \"2026-05-18T09:31:02\", \"lvl\": \"target\", \"msg\": \"" text "\"}\n"

const fuzz_seed fuzz_seeds[] = {
    SEED("template", "abc {n:uint} {w:word}, {t:text}$\n\nabc 12 x, yz 1\n"),
    SEED("template", "^~{t:text}-{p:int} ~[[{c:uint}]] x:[ {h:HEX}]\nx:\n a-b-12 [001] x: ff"),
    SEED("template",
         "{n:grouped11}{m:grouped11} us {u:us|\xc2\xb5s|s}\nus\n        999123,456,789 us s"),
    SEED(
        "template",
        "a={a:exp}us b={b:dec}[ (cv {c:digit}%)] {q:quoted}\nus\na=1e-3us b=.5 (cv 3%) \"x\\\"y\""),
    SEED("template", "{{[[~~abc{_:hex}\nabc\n{[~abcff"),
    SEED("scanner",
         "<RT_INSTR:\nPMF:cpu\n\nx<RT_INSTR:\tPMF:cpuPMF:cpu\r\n\x1b[0m<RT_INSTR<RT_INSTR:\n"),
    SEED("scanner",
         "aa\naaa\nbaa\n\naaaaabaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabaa\naa"),
    SEED("scanner", "a\nb\ncntvct=0x\n\nabc, cntvct=0x12ab\n"),
    SEED("reader",
         OPT "<RT_INSTR:t\t1\t0\t104500\t23400\t5840/>\r\n<RT_INSTR:t 1 2 3/><RT_INSTR:x\n"),
    SEED("reader", ALL "PMF:cpu 0\ttid -1\tts ffD/TC:0 x\nff\nstart 5 1.5 s\n"),
    SEED("reader",
         OPT "Timer summary (3):\n          0          0  a\n  1,234,567123,456,789  b\n\n"),
    SEED("reader", OPT "* Summary *\nTests Failed : 2\nodd\n===\n"),
    SEED("reader", OPT LAVA("<RT_INSTR:t\\t1\\t2\\t3/>") "\x1b[0mx=1e3us y=2[0m (cv nan%)\n"),
    SEED("reader", OPT "\x04 kworker/0:1-events-12 [000] fn: p (1F, 2)\rw: q=\"a b\" 1,234\n"),
    SEED("quick",
         "\x01"
         "NOTICE:  73 cycles\t11 ns\r\n<RT_INSTR:t 1 2 3/><RT_INSTR:x\ntook 1.5 ms, 3 times\n"),
    SEED("quick",
         "\x02"
         "  a-201 [001] ..... 55.034: optee_invoke_fn_begin: param=0f (3, 1)\nsays \"a\"\n"),
    SEED("transport", LAVA("a\\tb\\\"c\\x41\\u00b5")),
    SEED("transport", "- {lvl: feedback, ns: 'a', msg: [\"a\\nb\", 'c''d', e]}"),
    SEED("transport", "[2026-05-18 09:31:02.104] [    3.1] [cpu 0x0100] > |u| \x1b[1;31mx[0my"),
    SEED("tftf", OPT "NOTICE:  Booting Trusted Firmware\r\nPMF:cpu 0\ttid 0\tts 190034512\r\n"
                     "> Executing 'CPU suspend on all cores in sequence'\r\n"
                     "<RT_INSTR:test_rt_instr_cpu_susp_serial\t1\t0\t104500\t23400\t5840/>\r\n"
                     "  TEST COMPLETE                                                 Passed\r\n"),
    SEED("optee",
         "\x18\x04"
         "CounterTimerFrequency: 0x3b9aca0\n"
         "ClientOpenSession: start=0x10, enter_ta=0x40, return=0x90\n"
         "TEEDriver: do smc call, cmd=0, cntvct=0x20\nTEEDriver: finish smc call, cmd=0, "
         "cntvct=0x80\n"
         "TEECore: receiving smc call, cmd=0, cntvct=0x30\nTEECore: finish smc call, cmd=0, "
         "cntvct=0x70\n"),
    SEED("ftrace", OPT "# entries-in-buffer/entries-written: 2/2   #P:2\n"
                       " optee_example_h-337     [000] .....  3456.092741: optee_invoke_fn_begin: "
                       "param=000000008ab15a0a (32000003, 0, 0, 0, 0, 0, 0, 0)\n"
                       " optee_example_h-337     [000] .....  3456.099215: optee_invoke_fn_end: "
                       "param=000000008ab15a0a ret (ffff0005, 0, 0, 0)\nCPU:1 [LOST 3 EVENTS]\n"),
    SEED("qconv",
         OPT "./unit_test -iw 10 -ih 10 --sync random\nCache sync for device time : 432 [usec]\n"
             "FPGA exec time (160x160x64x32 1x1): 1408 [usec]\n[qconv_strip] test success!!!\n"),
    SEED("xtest",
         OPT "Starting test: SHA1, size=1024 bytes, random=no, unaligned=no, inner loops=1, "
             "loops=5000, warm-up=2 s\nmin=606.864us max=2711.76us mean=645.352us "
             "stddev=67.112us (cv 10.3993%) (1.51322MiB/s)\n"
             "Timer summary in microseconds (2 records):\n       Mark    Elapsed  Stage\n"
             "          0          0  reset\n  1,234,567  1,234,567  board_init_f\n\n"),
    SEED("pmf",
         OPT "NOTICE:  Raw results:\nNOTICE:  120 cycles\t1920 ns\nNOTICE:  121 cycles\t1936 ns\n"
             "Average number of cycles: 120\nAverage time: 1928 ns (ranging from 1920 to 1936)\n"),
    SEED("csv",
         "\x00\x04"
         "Sample in Buffer,Sample in Window,TRIGGER,s_arvalid,s_arready,s_araddr[31:0],"
         "s_arlen[7:0],s_rvalid,s_rready,s_rlast\nRadix - "
         "UNSIGNED,UNSIGNED,UNSIGNED,HEX,HEX,HEX,HEX,"
         "HEX,HEX,HEX\n0,0,1,1,1,10,1,0,1,0\n1,1,0,0,1,10,1,1,1,0\n2,2,0,0,1,10,1,1,1,1\n"),
    SEED("vcd",
         "\x01\x04"
         "$timescale 1ps $end\n$var wire 1 ! s_arvalid $end\n$var wire 1 \" s_arready $end\n"
         "$var wire 32 # s_araddr [31:0] $end\n$enddefinitions $end\n#0\n1!\n1\"\nb1010 "
         "#\n#1\n0!\n#5\n"),
    SEED("dump",
         "\x02\x04"
         "sample_count 1024\nwindow_marks 0\ntrigger_marks 512\ngaps\n"),
    SEED("legacy",
         "\x04"
         "CounterTimerFrequency: 0x3b9aca0\nClientOpenSession: start=0x48505f3c1, "
         "enter_ta=0x48511ab2f, return=0x48514a7e0\n"),
    SEED("legacy",
         "\x02"
         "x TEEDriver:\tdo smc call, cmd=1, cntvct=0x00ff\r\nTEECore: finish smc call, cmd=3, "
         "cntvct=0x1TEEDriver: finish smc call, cmd=0, cntvct=0x2"),
    SEED("legacy",
         "\x07"
         "SecureSysCall: start=0x1, enter_svc=0x2, return=0x3ClientInvokeCommand: "
         "start=0x1, enter_ta=0x2, return=0x0"),
};
const size_t fuzz_n_seeds = sizeof fuzz_seeds / sizeof fuzz_seeds[0];
