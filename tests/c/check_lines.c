/* check_lines.c - the lines that rules must be able to express, from real consoles, kernels and
 * tools, with their right values. SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "support/text_read.h"

#define LENGTH(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define TRACE_HEAD                                                                        \
  "^~{task:text}{_:-| }~{pid:uint}[/{tid:uint}] ~[[{cpu:uint}]] ~[{_:word} ~]{ts:dec}:"   \
  "~[(+{_:uint})]~[optee:]"
#define LATENCY_HEAD "^~{task:text}-{pid:uint} ~{cpu:uint}{_:.|d|D|X}{_:word} ~{ts:dec}:~"

static const char *const stage_rows[] = {"row={mark:grouped11}{elapsed:grouped11}  {name:text}",
                                         NULL};
static const char *const accumulated_rows[] = {"row=           {elapsed:grouped11}  {name:text}",
                                               NULL};
static const char *const storage_rows[] = {
    "rule=----{_:text}", "row={size:uint} ~| ~{time:dec} ~| ~{speed:exp}", NULL};

static const tg_rule_def rules[] = {
    /* the OP-TEE benchmark of 2015: client, driver, core, frequency */
    {.name = "freq", .pattern = "CounterTimerFrequency: 0x{hz:HEX}"},
    {.name = "open",
     .pattern = "ClientOpenSession: start=0x{a:HEX}, enter_ta=0x{b:HEX}, return=0x{c:HEX}"},
    {.name = "invoke",
     .pattern = "ClientInvokeCommand: start=0x{a:HEX}, enter_ta=0x{b:HEX}, return=0x{c:HEX}"},
    {.name = "sys",
     .pattern = "SecureSysCall: start=0x{a:HEX}, enter_svc=0x{b:HEX}, return=0x{c:HEX}"},
    {.name = "ddo",
     .pattern = "TEEDriver: do smc call, cmd={cmd:uint}, cntvct=0x{t:HEX}",
     .tag = "cntvct=0x",
     .all = true},
    {.name = "dfin",
     .pattern = "TEEDriver: finish smc call, cmd={cmd:uint}, cntvct=0x{t:HEX}",
     .tag = "cntvct=0x",
     .all = true},
    {.name = "crec",
     .pattern = "TEECore: receiving smc call, cmd={cmd:uint}, cntvct=0x{t:HEX}",
     .tag = "cntvct=0x",
     .all = true},
    {.name = "cfin",
     .pattern = "TEECore: finish smc call, cmd={cmd:uint}, cntvct=0x{t:HEX}",
     .tag = "cntvct=0x",
     .all = true},
    /* TF-A */
    {.name = "rt5",
     .pattern = "<RT_INSTR:{test:word} ~{a:uint} ~{b:uint} ~{c:uint} ~{d:uint} ~{e:uint}/>",
     .all = true},
    {.name = "rt3",
     .pattern = "<RT_INSTR:{test:word} ~{a:uint} ~{b:uint} ~{c:uint}/>",
     .all = true},
    {.name = "pmf", .pattern = "PMF:cpu {cpu:uint} ~tid {tid:uint} ~ts {ts:uint}"},
    {.name = "verdict", .pattern = "TEST COMPLETE~{v:Skipped|Passed|Failed|Crashed}"},
    {.name = "boot", .pattern = "BL1: v{v:text}", .tag = "BL1: v"},
    /* the FPGA runs */
    {.name = "fpga",
     .pattern = "FPGA exec time ({iw:uint}x{ih:uint}x{ic:uint}x{oc:uint} {kw:uint}x{kh:uint}): "
                "{us:int} [[usec]]"},
    {.name = "unit", .pattern = "unit_test {args:text}"},
    {.name = "dd",
     .pattern = "{bytes:uint} bytes[ ({_:text})] copied, {t:exp} s, {rate:exp} {unit:text}",
     .tag = "copied,",
     .exponents = "t=-3,rate=-3"},
    /* xtest */
    {.name = "xtest",
     .pattern = "min={min:exp}{u:us|\xc2\xb5s} max={max:exp}{_:us|\xc2\xb5s} "
                "mean={mean:exp}{_:us|\xc2\xb5s} stddev={sd:exp}{_:us|\xc2\xb5s}[ (cv {cv:exp}%)] "
                "({rate:exp}MiB/s)",
     .tag = "stddev=",
     .exponents = "min=-6,max=-6,mean=-6,sd=-6,cv=-6,rate=-6"},
    /* tracepoints of tracefs, trace-cmd, perf */
    {.name = "begin",
     .pattern = TRACE_HEAD "optee_invoke_fn_begin:~ param={param:word} ({a0:hex}, {_:text})",
     .tag = "optee_invoke_fn_begin:",
     .exponents = "ts=-9"},
    {.name = "end",
     .pattern = TRACE_HEAD "optee_invoke_fn_end:~ param={param:word} ret ({a0:hex}, {_:text})",
     .tag = "optee_invoke_fn_end:",
     .exponents = "ts=-9"},
    {.name = "latency",
     .pattern = LATENCY_HEAD "optee_invoke_fn_end:~ param={param:word} ret ({a0:hex}, {_:text})",
     .tag = "optee_invoke_fn_end:",
     .exponents = "ts=-9"},
    {.name = "lost", .pattern = "CPU:{n:uint} [[LOST[ {k:uint}] EVENTS]]"},
    /* tables */
    {.name = "stage",
     .pattern = "Timer summary in microseconds[ ({n:uint} records)]:",
     .tag = "summary",
     .rows = stage_rows,
     .end = ""},
    {.name = "acc", .pattern = "Accumulated time:", .rows = accumulated_rows, .end = ""},
    {.name = "storage",
     .pattern = "Data Size (B) ~| ~Time (s) ~| ~Speed (kB/s) ~|",
     .tag = "(kB/s)",
     .rows = storage_rows,
     .end = "",
     .exponents = "time=-3,speed=-3"},
};

static const struct {
  const char *text, *want;
} lines[] = {
    {"CounterTimerFrequency: 0x3b9aca0\n", "freq 1@0 hz=62500000\n"},
    {"CounterTimerFrequency: 0x3B9ACA0\r\n", "freq 1@0 hz=62500000\n"},
    {"ClientOpenSession: start=0x48505f3c1, enter_ta=0x48511ab2f, return=0x48514a7e0\n",
     "open 1@0 a=19411628993 b=19412396847 c=19412592608\n"},
    {"SecureSysCall: start=0x10, enter_svc=0x20, return=0x30\n", "sys 1@0 a=16 b=32 c=48\n"},
    {"[   18.314195] optee: TEEDriver: do smc call, cmd=1, cntvct=0x75fdae1e\r\n",
     "ddo 1@22 cmd=1 t=1979559454\n"},
    {"M/TC: TEECore: receiving smc call, cmd=1, cntvct=0x075fe0af3\r\n",
     "crec 1@6 cmd=1 t=1979583219\n"},
    {"*M/TC: TEECore: finish smc call, cmd=10, cntvct=0x0\r\n", "cfin 1@7 cmd=10 t=0\n"},
    {"TEECore: receiving smc call, cmd=0, cntvct=0x2TEEDriver: finish smc call, cmd=0, "
     "cntvct=0x30\n",
     "dfin 1@46 cmd=0 t=48\n! 1@46 crec edge\n"},
    {"cmd=0, cntvct=0x0[    8.345104]\n", "! 1@7 ddo mismatch\n"},
    {"TEECore: finish smc call, cmd=0, cntvct=0x015[    4.591864]9e8\n", "! 1@45 cfin edge\n"},
    {"TEECore: finish smc call, cmd=0, cntvct=0x02ff4b9[\n", "! 1@49 cfin edge\n"},
    {"<RT_INSTR:test_rt_instr_susp_deep_parallel\t1\t0\t104500\t23400\t5840/>\r\n",
     "rt5 1@0 test='test_rt_instr_susp_deep_parallel' a=1 b=0 c=104500 d=23400 e=5840\n"},
    {"<RT_INSTR:test_rt_instr_psci_version_parallel     1       0       680/>\n",
     "rt3 1@0 test='test_rt_instr_psci_version_parallel' a=1 b=0 c=680\n"},
    {"PMF:cpu 0\ttid 0\tts 190034512\r\n", "pmf 1@0 cpu=0 tid=0 ts=190034512\n"},
    {"PMF:cpu 0\ttid 0\tts 190034512x\r\n", "! 1@28 pmf edge\n"},
    {"  TEST COMPLETE                                                 Passed\r\n",
     "verdict 1@2 v='Passed'\n"},
    {"NOTICE:  BL1: v2.15.0(release):v2.15-rc0\r\n", "boot 1@9 v='2.15.0(release):v2.15-rc0'\n"},
    {"FPGA exec time (160x160x64x32 1x1): 1408 [usec]\n",
     "fpga 1@0 iw=160 ih=160 ic=64 oc=32 kw=1 kh=1 us=1408\n"},
    {"FPGA exec time (5x5x1024x256 3x3): -724 [usec]\n",
     "fpga 1@0 iw=5 ih=5 ic=1024 oc=256 kw=3 kh=3 us=-724\n"},
    {"fpga@debian:~$ ./unit_test -iw 10 -ih 10 --sync random\n",
     "unit 1@17 args='-iw 10 -ih 10 --sync random'\n"},
    {"4194304 bytes (4.2 MB) copied, 3.07516 s, 1.4 MB/s\n",
     "! 1@31 dd precision\n"},
    {"262144 bytes (262 kB, 256 KiB) copied, 0.003 s, 76.9 MB/s\n",
     "dd 1@0 bytes=262144 t=3e-3 rate=76900e-3 unit='MB/s'\n"},
    {"4194304 bytes copied, 3.075 s, 1.4 MB/s\n",
     "dd 1@0 bytes=4194304 t=3075e-3 rate=1400e-3 unit='MB/s'\n"},
    {"min=606.864us max=2711.76us mean=645.352us stddev=67.112us (cv 10.3993%) (1.51322MiB/s)\n",
     "xtest 1@0 min=606864000e-6 u='us' max=2711760000e-6 mean=645352000e-6 sd=67112000e-6 "
     "cv=10399300e-6 rate=1513220e-6\n"},
    {"min=3\xce\xbcs max=1.14554e+06\xce\xbcs mean=5\xce\xbcs stddev=nan\xce\xbcs (2.5MiB/s)\n",
     "xtest 1@0 min=3000000e-6 u='\\xc2\\xb5s' max=1145540000000e-6 mean=5000000e-6 "
     "rate=2500000e-6\n"},
    {"min=1us max=1us mean=1us stddev=nanus (cv nan%) (infMiB/s)\n",
     "xtest 1@0 min=1000000e-6 u='us' max=1000000e-6 mean=1000000e-6\n"},
    {" optee_example_h-337     [000] .....  3456.092741: optee_invoke_fn_begin: "
     "param=000000008ab15a0a (32000003, 0, 0, 0, 0, 0, 0, 0)\n",
     "begin 1@0 task='optee_example_h' pid=337 cpu=0 ts=3456092741000e-9 "
     "param='000000008ab15a0a' a0=838860803\n"},
    {" kworker/0:1-events-12     [001]    47.289172: optee_invoke_fn_begin: "
     "param=000000008ab15a0a (32000013, 0, 0, 0, 0, 0, 0, 0)\n",
     "begin 1@0 task='kworker/0:1-events' pid=12 cpu=1 ts=47289172000e-9 "
     "param='000000008ab15a0a' a0=838860819\n"},
    {"             lat-168   [000]    47.293338208: optee_invoke_fn_end:  "
     "param=0xffff800008503818 ret (ffff0004, 0, 0, 0)\n",
     "end 1@0 task='lat' pid=168 cpu=0 ts=47293338208e-9 param='0xffff800008503818' "
     "a0=4294901764\n"},
    {"     lat-168     0.N...    47.298752: optee_invoke_fn_end:  param=0xffff800008503818 ret "
     "(ffff0004, 0, 0, 0)\n",
     "latency 1@0 task='lat' pid=168 cpu=0 ts=47298752000e-9 param='0xffff800008503818' "
     "a0=4294901764\n"},
    {"             lat-168   [000]    47.293338: (+4166)  optee_invoke_fn_end:  "
     "param=0xffff800008503818 ret (ffff0004, 0, 0, 0)\n",
     "end 1@0 task='lat' pid=168 cpu=0 ts=47293338000e-9 param='0xffff800008503818' "
     "a0=4294901764\n"},
    {"             lat   192/192   [000]   117.544991296:   optee:optee_invoke_fn_end: "
     "param=0xffff8000084b39f8 ret (ffff0004, 0, 0, 0)\n",
     "end 1@0 task='lat' pid=192 tid=192 cpu=0 ts=117544991296e-9 param='0xffff8000084b39f8' "
     "a0=4294901764\n"},
    {"CPU:1 [LOST 3432 EVENTS]\nCPU:0 [LOST EVENTS]\n", "lost 1@0 n=1 k=3432\nlost 2@25 n=0\n"},
    {"Timer summary in microseconds (3 records):\n       Mark    Elapsed  Stage\n",
     "stage 1@0 section=1 n=3\n! 2@43 stage row\n"},
    {"Timer summary in microseconds (3 records):\n"
     "          0          0  reset\n  1,234,567    234,567  id=64\n\n"
     "Accumulated time:\n               12,345  dm_f\n",
     "stage 1@0 section=1 n=3\nstage.row 2@43 section=1 mark=0 elapsed=0 name='reset'\n"
     "stage.row 3@73 section=1 mark=1234567 elapsed=234567 name='id=64'\n"
     "acc 5@104 section=2\nacc.row 6@122 section=2 elapsed=12345 name='dm_f'\n"},
    {" Data Size (B) \t | Time (s)\t | Speed (kB/s)\t | \n"
     "-----------------+---------------+----------------\n"
     "      256 \t |    0.114 \t |    2.193\n      512 \t |    0.000 \t |      inf\n\n",
     "storage 1@1 section=1\nstorage.rule 2@48 section=1\n"
     "storage.row 3@105 section=1 size=256 time=114e-3 speed=2193e-3\n"
     "storage.row 4@141 section=1 size=512 time=0e-3\n"},
};

START_TEST(a_line_reads_so) {
  tg_ruleset *set = tr_rules(rules, sizeof rules / sizeof rules[0]);
  const char *text = lines[_i].text;
  char *got = tr_cut(set, (const uint8_t *)text, strlen(text), NULL);
  char *ledger = strstr(got, "# ");
  ck_assert_ptr_nonnull(ledger);
  *ledger = '\0';
  ck_assert_msg(strcmp(got, lines[_i].want) == 0, "%s\n--- got:\n%s--- want:\n%s", text, got,
                lines[_i].want);
  free(got);
  tg_ruleset_free(set);
}
END_TEST

int main(void) {
  TCase *tc = tcase_create("lines");
  tcase_add_loop_test(tc, a_line_reads_so, 0, LENGTH(lines));
  Suite *s = suite_create("lines");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
