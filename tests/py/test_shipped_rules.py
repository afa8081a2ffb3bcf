"""The rule files that come with the package: an example of each line and its right values."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

import tickgauge as tg
from tickgauge import _core
from tickgauge.cli import main
from tickgauge.rules.rule import shipped_rules

# (text, [(format, operation, metric, labels, value, unit)]); sources of the lines below.
EXAMPLES = {
    # README of ikwzm/udmabuf: 1.4 MB/s; coreutils since 8.24 adds the second unit (uiomem: 76.9).
    "dd": (
        "4194304 bytes (4.2 MB) copied, 3.07516 s, 1.4 MB/s\n"
        "262144 bytes (262 kB, 256 KiB) copied, 0.00341051 s, 76.9 MB/s\n"
        "16 bytes copied, 1.2e-05 s, 1.3 MB/s\n"
        "4194304 bytes (4.0MB) copied, 0.010456 seconds, 382.6MB/s\n"
        "1 byte copied, 0.0001 s, 10.0 kB/s\n"
        "8388608 bytes (8.4 MB) copied, 2 seconds, 4.2 MB/s\n"
        "4194304 bytes transferred in 0.010456 secs (401138485 bytes/sec)\n",
        [
            ("dd", "gnu", "time", "bytes=4194304", "3.07516", "s"),
            ("dd", "gnu", "time", "bytes=262144", "0.00341051", "s"),
            ("dd", "gnu", "time", "bytes=16", "0.000012", "s"),
            ("dd", "busybox", "time", "bytes=4194304", "0.010456", "s"),
            ("dd", "gnu", "time", "bytes=1", "0.0001", "s"),
            ("dd", "busybox", "time", "bytes=8388608", "2", "s"),
            ("dd", "bsd", "time", "bytes=4194304", "0.010456", "s"),
        ],
    ),
    # A line of each print that the rule file names; the values are those of the READMEs.
    "ikwzm": (
        "mmap write test : sync=1 time=0.000733 sec (0.000732 sec)\n"
        "file read  test : sync=0 time=0.000363 sec (0.000329 sec)\n"
        "mmap read  test : sync=1 time=5.679575 msec (5.675327 msec)\n"
        "mmap read  test : sync=1 throughput= 37.8 MBytes/sec\n"
        "mmap read  test(SIZE=262144, O_SYNC=1) : time = 0.006423 sec\n"
        "file write test(SIZE=262144, O_SYNC=0) : time=0.001312 sec (0.001309 sec)\n"
        "sync_mode=1, O_SYNC=0, time = 1.726000 sec\n"
        "time = 0.100002 sec\n"
        "throughput= 83.2 MBytes/sec\n"
        "    Run Time       : 0.012345678 #[Second]\n"
        "udmabuf0   : elapsed_time:0.11204075813293457[sec]\n"
        "total:9.228[msec] setup:0.803[msec] xfer:7.894[msec] cleanup:0.532[msec]\n"
        "average_setup_time  :0.624[msec]\n"
        "average_cleanup_time:0.464[msec]\n"
        "average_xfer_time   :1.769[msec]\n"
        "throughput          :148.187[MByte/sec]\n"
        "argsort_test   : time         :   26.149 # [msec]\n"
        "argsort_test   : average_time: 26.125 [msec]\n"
        "generate_expect: time        : 900.5 [msec]\n"
        "   average_time :   27.000 # [msec]\n"
        "argsort_test   : throughput   :   38.046 # [mwords/sec]\n"
        "argsort_test   : throughput  : 38.25[Mwords/sec]\n"
        "generate_expect: thougput    : 1.5[Mwords/sec]\n"
        "argsort Debug_Time(0):   25.199 # [msec]\n"
        "argsort Debug Time  : [1] : 25.5 [msec]\n"
        "expected run time 12.75 [msec]\n",
        [
            ("ikwzm", "mmap", "total", "how=mmap sync=1 what=write", "0.000733", "s"),
            ("ikwzm", "mmap", "main", "how=mmap sync=1 what=write", "0.000732", "s"),
            ("ikwzm", "mmap", "total", "how=file sync=0 what=read", "0.000363", "s"),
            ("ikwzm", "mmap", "main", "how=file sync=0 what=read", "0.000329", "s"),
            ("ikwzm", "mmap", "total", "how=mmap sync=1 what=read", "5.679575", "ms"),
            ("ikwzm", "mmap", "main", "how=mmap sync=1 what=read", "5.675327", "ms"),
            ("ikwzm", "mmap", "rate", "how=mmap sync=1 what=read", "37.8", "MBytes/sec"),
            ("ikwzm", "mmap", "total", "how=mmap size=262144 sync=1 what=read", "0.006423", "s"),
            ("ikwzm", "mmap", "total", "how=file size=262144 sync=0 what=write", "0.001312", "s"),
            ("ikwzm", "mmap", "main", "how=file size=262144 sync=0 what=write", "0.001309", "s"),
            ("ikwzm", "mode", "time", "mode=1 sync=0", "1.726", "s"),
            ("ikwzm", "write", "time", None, "0.100002", "s"),
            ("ikwzm", "throughput", "rate", None, "83.2", "MBytes/sec"),
            ("ikwzm", "ioctl_run", "time", None, "0.012345678", "s"),
            ("ikwzm", "python", "time", "name=udmabuf0", "0.11204075813293457", "s"),
            ("ikwzm", "negative", "total", None, "9.228", "ms"),
            ("ikwzm", "negative", "setup", None, "0.803", "ms"),
            ("ikwzm", "negative", "xfer", None, "7.894", "ms"),
            ("ikwzm", "negative", "cleanup", None, "0.532", "ms"),
            ("ikwzm", "negative_average", "average", "what=setup", "0.624", "ms"),
            ("ikwzm", "negative_average", "average", "what=cleanup", "0.464", "ms"),
            ("ikwzm", "negative_average", "average", "what=xfer", "1.769", "ms"),
            ("ikwzm", "negative_throughput", "rate", None, "148.187", "MByte/sec"),
            ("ikwzm", "argsort", "time", "program=argsort_test what=time", "26.149", "ms"),
            ("ikwzm", "argsort", "time", "program=argsort_test what=average_time", "26.125", "ms"),
            ("ikwzm", "argsort", "time", "program=generate_expect what=time", "900.5", "ms"),
            ("ikwzm", "argsort", "time", "what=average_time", "27", "ms"),
            (
                *("ikwzm", "argsort_throughput", "rate", "program=argsort_test"),
                *("38.046", "mwords/sec"),
            ),
            ("ikwzm", "argsort_throughput", "rate", "program=argsort_test", "38.25", "mwords/sec"),
            (
                *("ikwzm", "argsort_throughput", "rate", "program=generate_expect"),
                *("1.5", "mwords/sec"),
            ),
            ("ikwzm", "argsort_debug", "time", "n=0", "25.199", "ms"),
            ("ikwzm", "argsort_debug", "time", "n=1", "25.5", "ms"),
            ("ikwzm", "argsort_expected", "time", None, "12.75", "ms"),
        ],
    ),
    # rt-tests: the summary that cyclictest -q prints, as users post it.
    "cyclictest": (
        "# /dev/cpu_dma_latency set to 0us\n"
        "T: 0 (13631) P:99 I:1000 C:  50000 Min:      8 Act:   25 Avg:   13 Max:     121\n"
        "T:10 (13641) P:99 I:6000 C:   8323 Min:      9 Act:   13 Avg:   16 Max:     532\n",
        [
            ("cyclictest", "thread", "min", "interval=1000 prio=99 thread=0", "8", "us"),
            ("cyclictest", "thread", "avg", "interval=1000 prio=99 thread=0", "13", "us"),
            ("cyclictest", "thread", "max", "interval=1000 prio=99 thread=0", "121", "us"),
            ("cyclictest", "thread", "min", "interval=6000 prio=99 thread=10", "9", "us"),
            ("cyclictest", "thread", "avg", "interval=6000 prio=99 thread=10", "16", "us"),
            ("cyclictest", "thread", "max", "interval=6000 prio=99 thread=10", "532", "us"),
        ],
    ),
    # rtla of Linux (tools/tracing/rtla/src/timerlat_hist.c, osnoise_hist.c, *_top.c), shortened.
    "rtla": (
        "# RTLA osnoise histogram\n# Time unit is microseconds (us)\n# Duration:   0 00:00:02\n"
        "Index   CPU-000   CPU-001\n0           430         0\n5             1         7\n"
        "over:         0         2\ncount:      431         9\nmin:          0         5\n"
        "avg:          0         5\nmax:          5        17\n"
        "  0 00:00:10   |          IRQ Timer Latency (us)        |"
        "         Thread Timer Latency (us)\n"
        "CPU COUNT      |      cur       min       avg       max |"
        "      cur       min       avg       max\n"
        "  0 #10009     |        0         0         1        17 |"
        "        9         3        10        34\n"
        "\n"
        "duration:   0 00:01:00 | time is in us\n"
        "CPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max Single\n"
        "  0 #58         58000000         1473    99.99746         220          220        0\n",
        [
            ("rtla", "osnoise", "noise", None, "0", "us"),
            ("rtla", "osnoise", "noise", None, "5", "us"),
            ("rtla", "osnoise", "noise", None, "5", "us"),
            ("rtla", "osnoise", "noise", None, "6", "us"),
            ("rtla", "timerlat_top", "irq_min", None, "0", "us"),
            ("rtla", "timerlat_top", "irq_avg", None, "1", "us"),
            ("rtla", "timerlat_top", "irq_max", None, "17", "us"),
            ("rtla", "timerlat_top", "thread_min", None, "3", "us"),
            ("rtla", "timerlat_top", "thread_avg", None, "10", "us"),
            ("rtla", "timerlat_top", "thread_max", None, "34", "us"),
            ("rtla", "osnoise_top", "noise", None, "1473", "us"),
            ("rtla", "osnoise_top", "max_noise", None, "220", "us"),
            ("rtla", "osnoise_top", "max_single", None, "220", "us"),
        ],
    ),
    # Reports of HLS co-simulation, xdputil benchmark's line, XRT's profile, as users post them.
    "vitis": (
        "|      VHDL|        NA|             NA|             NA|             NA|             NA|"
        "             NA|             NA|                    NA|\n"
        "|   Verilog|      Pass|        1765625|        1765660|        1765696|        1765696|"
        "        1765696|        1765696|               3531321|\n"
        "|   Verilog|      Pass|            175|            175|            175|             NA|"
        "             NA|             NA|\n"
        "I0603 11:15:22.001 2345 test_dpu_runner_mt.cpp:474] FPS= 628.476 number_of_frames= 37710 "
        "time= 60.0023 seconds.\n"
        "Kernel Execution\n"
        "Kernel,Number Of Enqueues,Total Time (ms),Minimum Time (ms),Average Time (ms),"
        "Maximum Time (ms),\n"
        "vadd,1,1481.36,1481.36,1481.36,1481.36,\n"
        "webp_IntraPredLoop2_NoOut_1,2,7.2,3.5,3.6,3.7,\n"
        "\nTop Kernel Execution\n"
        "                             latency        interval\n"
        "transaction       0:             259               0\n"
        "transaction       1:             261             262\n"
        "\nCompute Unit Utilization\n"
        "Device,Compute Unit,Kernel,Global Work Size,Local Work Size,Number Of Calls,"
        "Dataflow Execution,Max Overlapping Executions,Dataflow Acceleration,Total Time (ms),"
        "Minimum Time (ms),Average Time (ms),Maximum Time (ms),Clock Frequency (MHz),\n"
        "xilinx_u200-0,vadd_1,vadd,1:1:1,1:1:1,2,No,1,1.000000x,1.25,0.5,0.625,0.75,300,\n"
        "\nData Transfer: Host to Global Memory\n"
        "Context:Number of Devices,Transfer Type,Number Of Buffer Transfers,Transfer Rate (MB/s),"
        "Average Bandwidth Utilization (%),Average Buffer Size (KB),Total Time (ms),"
        "Average Time (ms),\n"
        "context0:1,READ,2,N/A,N/A,4.096,0.1,0.05,\n"
        "context0:1,WRITE,4,8192.5,85.3,4.096,0.4,0.1,\n\n",
        [
            ("vitis", "cosim", "min", "rtl=Verilog", "1765625", "cycle"),
            ("vitis", "cosim", "avg", "rtl=Verilog", "1765660", "cycle"),
            ("vitis", "cosim", "max", "rtl=Verilog", "1765696", "cycle"),
            ("vitis", "cosim", "total", "rtl=Verilog", "3531321", "cycle"),
            ("vitis", "cosim", "min", "rtl=Verilog", "175", "cycle"),
            ("vitis", "cosim", "avg", "rtl=Verilog", "175", "cycle"),
            ("vitis", "cosim", "max", "rtl=Verilog", "175", "cycle"),
            ("vitis", "xdputil", "rate", None, "628.476", "FPS"),
            ("vitis", "kernel", "total", "kernel=vadd", "1481.36", "ms"),
            ("vitis", "kernel", "min", "kernel=vadd", "1481.36", "ms"),
            ("vitis", "kernel", "avg", "kernel=vadd", "1481.36", "ms"),
            ("vitis", "kernel", "max", "kernel=vadd", "1481.36", "ms"),
            *[
                ("vitis", "kernel", m, "kernel=webp_IntraPredLoop2_NoOut_1", v, "ms")
                for m, v in (("total", "7.2"), ("min", "3.5"), ("avg", "3.6"), ("max", "3.7"))
            ],
            ("vitis", "transaction", "latency", None, "259", "cycle"),
            ("vitis", "transaction", "latency", None, "261", "cycle"),
            *[
                ("vitis", "cu", m, "cu=vadd_1 kernel=vadd", v, "ms")
                for m, v in (("total", "1.25"), ("min", "0.5"), ("avg", "0.625"), ("max", "0.75"))
            ],
            ("vitis", "transfer", "total", "type=READ", "0.1", "ms"),
            ("vitis", "transfer", "avg", "type=READ", "0.05", "ms"),
            ("vitis", "transfer", "total", "type=WRITE", "0.4", "ms"),
            ("vitis", "transfer", "avg", "type=WRITE", "0.1", "ms"),
        ],
    ),
    # bpftrace hist(), lhist(), keyed maps; print_log2_hist of bcc.
    "bpftrace": (
        "@usecs:\n[1]                    3 |@@@       |\n[2, 4)                 1 |@         |\n\n"
        "@bytes[bash, 12]:\n[512, 1K)              7 |@@@@@@@@@@|\n"
        "[2M, ...)              1 |@         |\n\n"
        "     msecs               : count     distribution\n"
        "         0 -> 1          : 4        |****                |\n",
        [
            ("bpftrace", "map", "usecs", None, "1", "usecs"),
            ("bpftrace", "map", "usecs", None, "2", "usecs"),
            ("bpftrace", "keyed", "bytes", 'key="bash, 12"', "512", "bytes"),
            ("bpftrace", "keyed", "bytes", 'key="bash, 12"', "2097152", "bytes"),
            ("bpftrace", "bcc", "msecs", None, "0", "msecs"),
        ],
    ),
    # hwlatdetect.py of rt-tests, with and without the cpu.
    "hwlatdetect": (
        "Max Latency: 18us\nSamples recorded: 2\n"
        "ts: 1476385921.166396829, inner:0, outer:18\n"
        "ts: 1581528483.681866446, inner:15, outer:17, cpu:1\n",
        [
            ("hwlatdetect", "max", "max", None, "18", "us"),
            ("hwlatdetect", "sample", "inner", None, "0", "us"),
            ("hwlatdetect", "sample", "outer", None, "18", "us"),
            ("hwlatdetect", "sample", "inner", None, "15", "us"),
            ("hwlatdetect", "sample", "outer", None, "17", "us"),
        ],
    ),
    # outputPercentileDistribution of HdrHistogram: 90 of 100 at 1, ten more up to 100.
    "hdrhistogram": (
        "       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
        "       1.000 0.000000000000         90           1.00\n"
        "      50.000 0.950000000000         95          20.00\n"
        "     100.000 1.000000000000        100\n"
        "#[Mean    =        3.400, StdDeviation   =       12.000]\n"
        "#[Max     =      100.000, Total count    =          100]\n",
        [
            ("hdrhistogram", "percentiles", "value", None, "1", None),
            ("hdrhistogram", "percentiles", "value", None, "50", None),
            ("hdrhistogram", "percentiles", "value", None, "100", None),
        ],
    ),
    # TF-A tests, test_psci_stat.c: residency in us, hex in the second form.
    "psci_stat": (
        "INFO:    The difference in programmed time and residency time in us = -12 at power "
        "level 1\r\n"
        "INFO:    Stats for CPU 2 for power state 0x10000 : Recorded stats 0x1f4 0x3, "
        "Target stats 0x200 0x3\r\n"
        "mpid = 256, power_state = 10000, stat count = 3, residency = 500\r\n",
        [
            ("psci_stat", "difference", "difference", "level=1", "-12", "us"),
            ("psci_stat", "stats", "residency", "count=3 state=65536", "500", "us"),
            ("psci_stat", "state", "residency", "mpid=256 state=65536", "500", "us"),
        ],
    ),
    # TF-A's bl32/tsp.
    "tsp": (
        "INFO:    TSP: cpu 0x80000000: 4 smcs, 5 erets 1 cpu suspend requests\r\n"
        "VERBOSE: TSP: cpu 0x1: 6 smcs, 7 erets requests\r\n"
        "VERBOSE: TSP: cpu 0x1: 8 sync s-el1 interrupt requests, "
        "9 sync s-el1 interrupt returns\r\n",
        [
            ("tsp", "power", "smcs", "kind=suspend mpidr=2147483648", "4", "count"),
            ("tsp", "power", "erets", "kind=suspend mpidr=2147483648", "5", "count"),
            ("tsp", "power", "requests", "kind=suspend mpidr=2147483648", "1", "count"),
            ("tsp", "calls", "smcs", "mpidr=1", "6", "count"),
            ("tsp", "calls", "erets", "mpidr=1", "7", "count"),
            ("tsp", "interrupts", "requests", "mpidr=1", "8", "count"),
            ("tsp", "interrupts", "returns", "mpidr=1", "9", "count"),
        ],
    ),
    # systemd-analyze(1) and format_timespan: the year of 365.25 days, the month its twelfth.
    "systemd_analyze": (
        "Startup finished in 17.626s (firmware) + 5.744s (loader) + 498ms (kernel)"
        " + 2.531s (initrd) + 1min 1.585s (userspace) = 1min 31.047s\n"
        "systemd[1]: Startup finished in 1min 200ms (kernel) + 1h 3min 2.500s (userspace) = 1h.\n"
        "Startup finished in 2min (kernel) + 1h 5.100s (userspace) = 1h 2min 5.100s\n"
        "Startup finished in 1y 2month 3w 4d 5h 6min 7.008s (kernel) + 12us (userspace) = ...\n"
        "graphical.target reached after 1min 1.585s in userspace\n"
        "    1min 2.345s NetworkManager-wait-online.service\n"
        "          832ms dev-mmcblk0p2.device\n"
        'The time the unit took to start is printed after the "+" character.\n\n'
        "graphical.target @47.820s\n"
        "\u2514\u2500multi-user.target @47.819s\n"
        "  \u2514\u2500kdump.service @19.729s +28.090s\n",
        [
            ("systemd_analyze", "firmware", "time", None, "17626000", "us"),
            ("systemd_analyze", "loader", "time", None, "5744000", "us"),
            ("systemd_analyze", "kernel", "time", None, "498000", "us"),
            ("systemd_analyze", "initrd", "time", None, "2531000", "us"),
            ("systemd_analyze", "userspace", "time", None, "61585000", "us"),
            ("systemd_analyze", "kernel", "time", None, "60200000", "us"),
            ("systemd_analyze", "userspace", "time", None, "3782500000", "us"),
            ("systemd_analyze", "kernel", "time", None, "120000000", "us"),
            ("systemd_analyze", "userspace", "time", None, "3605100000", "us"),
            ("systemd_analyze", "kernel", "time", None, "38995567008000", "us"),
            ("systemd_analyze", "userspace", "time", None, "12", "us"),
            ("systemd_analyze", "reached", "time", "target=graphical.target", "61585000", "us"),
            (
                "systemd_analyze",
                "blame",
                "time",
                "service=NetworkManager-wait-online",
                "62345000",
                "us",
            ),
            ("systemd_analyze", "blame", "time", "service=dev-mmcblk0p2", "832000", "us"),
            (
                "systemd_analyze",
                "critical_chain",
                "active",
                "service=graphical.target",
                "47820000",
                "us",
            ),
            (
                "systemd_analyze",
                "critical_chain",
                "active",
                "service=multi-user.target",
                "47819000",
                "us",
            ),
            (
                "systemd_analyze",
                "critical_chain",
                "active",
                "service=kdump.service",
                "19729000",
                "us",
            ),
            (
                "systemd_analyze",
                "critical_chain",
                "took",
                "service=kdump.service",
                "28090000",
                "us",
            ),
        ],
    ),
    # LAVA's signals: both orders, without the word, behind a shell's trace and a kernel's stamp.
    "lava": (
        "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=wakeup RESULT=pass UNITS=us MEASUREMENT=41.5>\n"
        "+ <LAVA_SIGNAL_TESTCASE TEST_CASE_ID=wakeup RESULT=pass MEASUREMENT=42 UNITS=us>\n"
        "<8>[   15.101153] <LAVA_SIGNAL_TESTCASE TEST_CASE_ID=read RESULT=pass UNITS=MB/s "
        "MEASUREMENT=1.5e2>\n"
        "<TEST_CASE_ID=boot MEASUREMENT=0.25 UNITS=s RESULT=fail>\n"
        "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=boot RESULT=pass UNITS=s MEASUREMENT=2.04e-05>\n"
        "<TEST_CASE_ID=write RESULT=pass MEASUREMENT=80 UNITS=MB/s>\n"
        "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=retries RESULT=pass MEASUREMENT=3>\n"
        "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=linux-login RESULT=pass>\n"
        "Received signal: <TESTCASE> TEST_CASE_ID=wakeup RESULT=pass UNITS=us MEASUREMENT=41.5\n",
        [
            ("lava", "measurement", "measurement", None, "41.5", "us"),
            ("lava", "measurement", "measurement", None, "42", "us"),
            ("lava", "measurement", "measurement", None, "150", "MB/s"),
            ("lava", "measurement", "measurement", None, "0.25", "s"),
            ("lava", "measurement", "measurement", None, "0.0000204", "s"),
            ("lava", "measurement", "measurement", None, "80", "MB/s"),
            ("lava", "measurement", "measurement", None, "3", "1"),
        ],
    ),
    # kernel/trace/trace_timerlat.c (trace_output.c), trace_osnoise.c, trace_hwlat.c, trace.c.
    "tracers": (
        "# tracer: wakeup_rt\n"
        "# latency: 46 us, #8/8, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)\n"
        "          <idle>-0       [000] d.h1    54.029328: #1     context    irq timer_latency"
        "       932 ns\n"
        "           <...>-867     [000] ....    54.029339: #1     context thread timer_latency"
        "     11700 ns\n"
        "      osnoise/8-961     [008] d.h.  5789.857532: irq_noise: local_timer:236 start"
        " 5789.857529929 duration 1845 ns\n"
        "      osnoise/8-961     [008] ....  5789.858413: sample_threshold: start 5789.858404555"
        " duration 8812 ns interferences 2\n"
        "           <...>-1729  [001] d...   678.473449: #1     inner/outer(us):   11/12   "
        " ts:1581527483.343962693 count:6\n",
        [
            ("tracers", "longest", "latency", "tracer=wakeup_rt", "46", "us"),
            ("tracers", "timerlat", "latency", "context=irq", "932", "ns"),
            ("tracers", "timerlat", "latency", "context=thread", "11700", "ns"),
            ("tracers", "noise", "duration", "kind=irq source=local_timer", "1845", "ns"),
            ("tracers", "sample", "duration", None, "8812", "ns"),
            ("tracers", "hwlat", "inner", None, "11", "us"),
            ("tracers", "hwlat", "outer", None, "12", "us"),
        ],
    ),
    # tools/perf: builtin-sched.c, builtin-trace.c, bench/sched-pipe.c.
    "perf": (
        "  cc1:(12)              |     12.002 ms |       25 | avg:   0.017 ms | max:   2.345 ms |"
        " max start: 145956.250 s | max end: 145956.252 s\n"
        "  rcu_sched:7           |      0.341 ms |       32 | avg:   1.017 ms | max:   0.345 ms |"
        " max at:   145957.250 s\n"
        " sleep (12345), 82 events, 97.6%\n\n"
        "   syscall            calls  errors  total       min       avg       max       stddev\n"
        "                                     (msec)    (msec)    (msec)    (msec)        (%)\n"
        "   --------------- --------  ------ -------- --------- --------- ---------     ------\n"
        "   mmap                   8      0     0.035     0.003     0.004     0.008     12.34%\n\n"
        "       5.123456 usecs/op\n",
        [
            ("perf", "sched_latency", "runtime", "task=cc1:(12)", "12.002", "ms"),
            ("perf", "sched_latency", "avg", "task=cc1:(12)", "0.017", "ms"),
            ("perf", "sched_latency", "max", "task=cc1:(12)", "2.345", "ms"),
            ("perf", "sched_latency", "runtime", "task=rcu_sched:7", "0.341", "ms"),
            ("perf", "sched_latency", "avg", "task=rcu_sched:7", "1.017", "ms"),
            ("perf", "sched_latency", "max", "task=rcu_sched:7", "0.345", "ms"),
            ("perf", "syscall", "total", "syscall=mmap task=sleep", "0.035", "ms"),
            ("perf", "syscall", "min", "syscall=mmap task=sleep", "0.003", "ms"),
            ("perf", "syscall", "avg", "syscall=mmap task=sleep", "0.004", "ms"),
            ("perf", "syscall", "max", "syscall=mmap task=sleep", "0.008", "ms"),
            ("perf", "bench", "operation", None, "5.123456", "us"),
        ],
    ),
    # optee_test, stats.c.
    "xtest_stats": (
        "REE time: 1700000000 seconds, 5 milliseconds\nTEE time: 12 seconds, 345 milliseconds\n",
        [
            ("xtest_stats", "time", "time", "world=REE", "1700000000005", "ms"),
            ("xtest_stats", "time", "time", "world=TEE", "12345", "ms"),
        ],
    ),
}


def read(tmp_path, text):
    path = tmp_path / "log"
    path.write_text(text)
    return tg.read(path)


def readings_of(data):
    """What the expectations above say, from the readings."""
    rows = [data.readings.row(i) for i in range(len(data.readings))]
    return [
        (
            row["format"],
            row["operation"],
            row["metric"],
            row["labels"],
            Decimal(int(row["value"])).scaleb(int(row["exp10"])),
            row["unit"],
        )
        for row in rows
    ]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_give_their_right_values(tmp_path, name):
    text, want = EXAMPLES[name]
    data = read(tmp_path, text)
    assert readings_of(data) == [(*w[:4], Decimal(w[4]), w[5]) for w in want]
    assert data.infos[0].formats == (name,)
    assert len(data.problems) == 0


def test_every_shipped_format_has_an_example():
    assert {rule.name.partition(".")[0] for rule in shipped_rules()} <= set(EXAMPLES)


#: Lines that give no reading by themselves: what they say is a label, a unit or a begin of others.
WITHOUT_READING = {
    "cyclictest.beyond": "# Thread 0:",
    "bpftrace.begin": "Tracing block device I/O... Hit Ctrl-C to end.",
    "bpftrace.section": "disk = nvme0n1",
    "bpftrace.unnamed": "@:",
    "bpftrace.unnamed_keyed": "@[kworker/0:1]:",
    "cyclictest.extremes": "# Thread 0 on cpu 3: min 2 avg 4.25 max 91 us",
    "cyclictest.histogram": "# Histogram",
    "cyclictest.histogram_ns": "# Histogram (ns)",
    "cyclictest.thread.ns": "T: 0 (13631) P:99 I:1000 C:  50000 Min:   8123 Act:   25123 "
    "Avg:   13123 Max:   93123",
    "ikwzm.argsort_size": "argsort_test   : size         : 10000",
    "ikwzm.buffer": "size=262144",
    "ikwzm.check": "check_buf()",
    "ikwzm.ioctl": "U_DMA_BUF_IOCTL_EXPORT:",
    "ikwzm.ioctl_flags": "    fd_flags       : O_CLOEXEC | O_RDWR",
    "ikwzm.output": "write_buf_test(size=262144, O_DIRECT=0)",
    "ikwzm.python_size": "test_size  : 262144",
    "lava.run": "<LAVA_SIGNAL_STARTRUN 0_cyclictest 1045_1.1.4>",
    "rtla.timerlat": "# RTLA timerlat histogram",
}


def rules_that_read(text):
    """The names of the rules that take a line of the text."""
    reader = _core.Reader(_core.RuleSet([rule.definition() for rule in shipped_rules()]))
    reader.feed(text.encode())
    records = reader.finish()
    return {name for i, name in enumerate(records.rules) if len(records.table(i)) > 0}


def test_every_shipped_rule_reads_the_line_it_was_written_for():
    names = {rule.definition()["name"] for rule in shipped_rules()}
    with_readings = set().union(*(rules_that_read(text) for text, _ in EXAMPLES.values()))
    assert names - with_readings <= set(WITHOUT_READING) <= names
    for name, line in WITHOUT_READING.items():
        assert name in rules_that_read(line + "\n"), line
        assert name not in rules_that_read(line[: len(line) // 3] + "\n"), "its begin"


def test_torn_and_hostile_lines_give_nothing(tmp_path):
    text = (
        "262144 bytes (262 kB, 256 KiB) copied, 0.0034[   12.3] s, 76.9 MB/s\n"
        "mmap write test : sync=1 time=0.0007x33 sec (0.000732 sec)\n"
        "T: 0 (13631) P:99 I:1000 C:  50000 Min:      8 Act:   25 Avg:   13 Max:\n"
        "TSP: cpu 0x1: 99999999999999999999999 smcs, 7 erets requests\n"
        "Startup finished in 17.62.6s (firmware) + 5..s (loader)\n"
        "REE time: seconds, milliseconds\nthroughput= MBytes/sec\n" + "copied, " * 1000 + "\n"
    )
    assert len(read(tmp_path, text + "hello\n").readings) == 0


@pytest.mark.parametrize(
    "line",
    [
        "x 5s 1min (kernel)",  # a part behind a smaller one: its tail is no value
        "Startup in 1min2s (kernel)",
        "Startup in 1.5min 2s (kernel)",
        "Startup in 3h 3h (kernel)",
        "Startup in 12fortnights (kernel)",
        "Startup in 99999999999999999999y (kernel)",
    ],
)
def test_a_duration_is_read_whole_or_not_at_all(line):
    text = f"Startup finished in 1s (userspace) = 1s\n{line}\n"
    data = tg.read(text.encode())
    assert data.readings["value"].tolist() == [1_000_000]
    assert data.infos[0].unread + len(data.problems) == 1


@pytest.mark.parametrize(
    "lines",
    [
        # rt-tests/cyclictest.c print_hist: below each table, with and without overflows.
        "# Histogram\n000001 000007\t000009\n# Total: 000000007 000000009\n"
        "# Min Latencies: 00001 00001\n# Avg Latencies: 00001 00001\n"
        "# Max Latencies: 00001 00001\n# Histogram Overflows: 00000 00000\n"
        "# Histogram Overflow at cycle number:\n# Thread 0:\n"
        "# Thread 1: 00077 05123 # 00002 others\n",
        # optee_os/core/kernel/initcall.c of a debug build, before a kernel with initcall_debug.
        "D/TC:0 0 do_init_calls:19 preinitcall level 2 mobj_mapped_shm_init()\n"
        "D/TC:0 0 do_init_calls:19 early_initcall level 1 init_callout_service()\n"
        "[    0.912345] initcall psci_init+0x0/0x40 returned 0 after 17 usecs\n",
    ],
)
def test_a_whole_log_of_a_known_program_leaves_no_line_unread(tmp_path, lines):
    path = tmp_path / "log"
    path.write_text(lines)
    data = tg.read(path)
    assert len(data.readings) and not len(data.problems)
    assert [(info.unread, info.unread_rule) for info in data.infos] == [(0, "")]


def test_lines_of_a_program_that_was_found_are_counted_where_no_rule_reads_them(tmp_path, capsys):
    good = "mmap write test : sync=1 time=0.000733 sec (0.000732 sec)\n"
    bad = "mmap write test : sync=1 time=7 parsecs (6 parsecs)\n"
    path = tmp_path / "log"
    path.write_text(good + bad * 3)
    assert main(["show", str(path)]) == 0
    out = capsys.readouterr().out
    first = out.splitlines()[0]
    assert "2 readings of 2 keys, 3 lines of the same program not read" in first
    assert "3 lines of the same program were not read (near ikwzm.mmap" in out
    assert main(["show", "--strict", str(path)]) == 1
    path.write_text(good)
    assert main(["show", "--strict", str(path)]) == 0


def test_a_lava_job_log_gives_each_figure_once_and_says_the_suite():
    entry = '- {"dt": "2026-08-21T10:00:00.100001", "lvl": "%s", "msg": %s}\n'
    signal = "TEST_CASE_ID=wakeup RESULT=pass UNITS=us MEASUREMENT=41.5"
    text = (
        entry % ("target", '"<LAVA_SIGNAL_STARTRUN 0_latency 299603_1.5.2.4.5>"')
        + entry % ("target", f'"<LAVA_SIGNAL_TESTCASE {signal}>"')
        + entry % ("debug", f'"Received signal: <TESTCASE> {signal}"')
        + entry
        % (
            "results",
            '{"case": "wakeup", "definition": "0_latency", "measurement": !!float "41.5", '
            '"result": "pass", "units": "us"}',
        )
    )
    data = tg.read(text.encode())
    (row,) = [data.readings.row(i) for i in range(len(data.readings))]
    assert (row["test"], row["labels"]) == ("wakeup", "suite=latency")
    assert data.readings.ns.tolist() == [41_500]
    assert data.infos[0].unread == 0 and len(data.problems) == 0


def test_a_common_word_alone_is_no_line_of_a_program():
    text = b"262144 files copied, none lost\n" * 3 + b"sync_mode= of a foreign program\n"
    data = tg.read(b"REE time: 1 seconds, 5 milliseconds\n" + text)
    assert data.infos[0].unread == 0
    assert "not read" not in data.headline()


@pytest.mark.parametrize("line", ["cpu = 3", "size=4096", "check_buf()", "test_size : 12"])
def test_a_line_that_is_only_a_context_is_no_evidence_of_a_format(tmp_path, line):
    text = f"boot loader 3\n{line}\nstage A took 12 us\n"
    with pytest.raises(tg.errors.InputError, match="no known kind of line was found in 3 lines"):
        read(tmp_path, text)
    data = read(tmp_path, text + "4194304 bytes (4.2 MB) copied, 3.07516 s, 1.4 MB/s\n")
    assert data.infos[0].formats == ("dd",)


def test_a_mixed_source_gives_all_its_formats(tmp_path):
    data = read(tmp_path, "".join(text for text, _ in EXAMPLES.values()))
    assert set(data.infos[0].formats) <= set(EXAMPLES)
    assert len(data.readings) == sum(len(want) for _, want in EXAMPLES.values())


def test_a_users_rule_of_the_same_name_comes_first(tmp_path):
    rule = tg.Rule("copied, {t:dec} s", name="dd.gnu", value="t", unit="s")
    path = tmp_path / "log"
    path.write_text("262144 bytes (262 kB, 256 KiB) copied, 0.003 s, 76.9 MB/s\n")
    data = tg.read(path, rules=[rule])
    assert data.readings["metric"].tolist() == ["t"]


def test_formats_are_listed(capsys):
    assert main(["show", "--formats"]) == 0
    out = capsys.readouterr().out
    for name in (*EXAMPLES, "optee", "ftrace", "xtest", "bootstage", "ts"):
        assert re.search(rf"(?m)^  {name}[ :]", out)


#: print_stat of rt-tests' cyclictest.c, without and with --nsecs.
CYCLICTEST = {
    "us": "T:%2d (%5d) P:%2d I:%ld C:%7d Min:%7d Act:%5d Avg:%5d Max:%8d",
    "ns": "T:%2d (%5d) P:%2d I:%ld C:%7d Min:%7d Act:%8d Avg:%8d Max:%8d",
}


@pytest.mark.parametrize("unit", CYCLICTEST)
@pytest.mark.parametrize("act", [0, 25, 404, 9999, 10000, 123456, 9999999])
def test_cyclictest_tells_its_unit_by_the_width_of_its_columns(unit, act):
    line = CYCLICTEST[unit] % (0, 13631, 99, 1000, 50000, 8, act, 1300, 12100)
    for text in (line + "\n", f"[   12.5] {line} SMI:       0\r\n"):
        readings = tg.read(text.encode()).readings
        assert set(readings["unit"]) == {unit}
        found = dict(zip(readings["metric"], readings["value"].tolist(), strict=True))
        assert found == {"min": 8, "avg": 1300, "max": 12100}
        assert set(readings["operation"]) == {"thread"}


def test_a_rule_of_ones_own_says_the_unit_where_the_line_cannot(tmp_path):
    line = CYCLICTEST["ns"] % (0, 13631, 99, 1000, 50000, 8000, 10_000_000, 13000, 12_100_000)
    assert set(tg.read(line.encode() + b"\n").readings["unit"]) == {"us"}
    shipped = next(rule for rule in shipped_rules() if rule.name == "cyclictest.thread")
    path = tmp_path / "nsecs.toml"
    path.write_text(
        f'format = "cyclictest"\n[[rule]]\nname = "thread"\ntemplate = "{shipped.template}"\n'
        'tag = "Act:"\nunit = "ns"\nvalues = { min = "min", avg = "avg", max = "max" }\n'
    )
    readings = tg.read(line.encode() + b"\n", rules=path).readings
    assert set(readings["unit"]) == {"ns"}
    assert readings.select(metric="max").ns.tolist() == [12_100_000]
