"""Goes wrong in the way that its first argument names."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def reply(text, **more):
    print(json.dumps({"type": "reply", "text": text, **more}), flush=True)


def main(how):
    if how == "leaves at once":
        sys.exit(3)
    line = sys.stdin.readline()
    if how == "crashes":
        raise RuntimeError("the model said no\x1b[31m")
    if how == "is killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "says nothing":
        sys.exit(0)
    if how == "speaks in prose":
        print("Hello, I am an agent.", flush=True)
        sys.exit(0)
    if how == "closes its stdout":
        os.close(1)
        time.sleep(600)
    if how == "does not flush":
        print(json.dumps({"type": "reply", "text": "x"}))
        time.sleep(600)
    if how == "ends no line":
        sys.stdout.write('{"type": "reply", "text": "x"}')
        sys.stdout.flush()
        time.sleep(600)
    if how == "forgets the type":
        print("thinking", flush=True)
        print('{"text": "x"}', flush=True)
        time.sleep(600)
    if how == "answers another turn":
        reply("x", turn=0)
        time.sleep(600)
    if how == "prints for debugging":
        print("DEBUG Hello.", flush=True)
        time.sleep(600)
    if how == "hangs":
        time.sleep(600)
    if how == "hangs and heeds nothing":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        reply(str(os.getpid()))
        time.sleep(600)
    if how == "writes one endless line":
        while True:
            sys.stdout.write("x" * 65536)
    if how == "writes 50 MB of lines":
        for _ in range(50_000):
            sys.stdout.write("y" * 999 + "\n")
        reply("done")
    if how == "writes 50 MB to stderr":
        for _ in range(50_000):
            sys.stderr.write("z" * 999 + "\n")
        reply("done")
    if how == "sends text that is none":
        print('{"type": "reply", "text": 5}', flush=True)
    if how == "sends an odd usage":
        print('{"type": "reply", "text": "x", "usage": {"cost": "free"}}', flush=True)
    if how == "counts without end":
        print(
            '{"type": "reply", "text": "x", "usage": {"input_tokens": 1%s}}' % ("0" * 400),
            flush=True,
        )
    if how == "costs without end":
        print('{"type": "reply", "text": "x", "usage": {"cost": 1e308}}', flush=True)
    if how == "replies before it is asked":
        reply("one")
        reply("two, before anybody said anything")
        Path(sys.argv[2]).touch()
        sys.stdin.readline()
        reply("two")
    if how == "nests":
        print('{"type": "reply", "text": ' + "[" * 200_000, flush=True)
    if how == "leaves a helper behind":
        helper = subprocess.Popen(["sleep", "600"], start_new_session=True)
        reply(str(helper.pid))
    if how == "leaves a helper that holds its stdout":
        subprocess.Popen(["sleep", "600"], start_new_session=True)
        sys.exit(1)
    if how == "talks too much":
        print("thinking ...", flush=True)
        print('{"type": "progress", "share": 0.5}', flush=True)
        sys.stderr.write("a warning\n")
        reply("one")
        reply("once more", turn=1)
        sys.stdin.readline()
        reply("two")
    if how == "sends half a character":
        print('{"type": "reply", "text": "a\\ud83d"}', flush=True)
    time.sleep(0 if how == "hurries" else 0.2)
    sys.stdin.read()
    return line


if __name__ == "__main__":
    main(sys.argv[1])
