#!/bin/bash
# Every command as a user drives it: exit status, what goes to standard output, what to standard error.
#
# In: ./onlyonce, built. Out: a line "ok" or "not ok" for each check, and status 1 if one is not.
# Standard output and standard error of the last command stand in $tmp/out and $tmp/err.
set -u
export LC_ALL=C.UTF-8
unset NO_COLOR
cd "$(dirname "$0")/.." || exit 1
tool=$PWD/onlyonce
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
count=0

ok() { # condition's status, what
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        failed=1
    fi
}

# run STATUS ARGUMENT...: runs the tool and checks its status.
run() {
    local want=$1 got=0
    shift
    "$tool" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || got=$?
    ok "$((got != want))" "onlyonce $* ends with $want (was $got)"
}
out_has() { grep -qF -- "$1" "$tmp/out"; ok $? "its output says: $1"; }
err_has() { grep -qF -- "$1" "$tmp/err"; ok $? "its errors say: $1"; }
out_is_empty() { test ! -s "$tmp/out"; ok $? "its output is empty"; }
err_is_empty() { test ! -s "$tmp/err"; ok $? "its errors are empty"; }

cat >"$tmp/story.yaml" <<'END'
name: lost-reply
about: The reply to "charge order 1042" is lost, so the shop sends it again.
receivers: [table, entity, response, naive]
senders:
  - name: shop
    messages:
      - {id: m-77, entity: order-1042, charge: 4200}
    retry: {after: 1s, backoff: exponential, limit: 5}
network: {delay: 20ms..80ms}
faults:
  - lose reply m-77/1
expect: {naive: violates no-double-effect}
END
sed 's/, naive\]/]/; s/^expect:.*//' "$tmp/story.yaml" >"$tmp/three.yaml"
story=$tmp/story.yaml
three=$tmp/three.yaml

# ---- help, version, usage ----
run 0 --help
out_has "onlyonce run"
err_is_empty
run 0 --version
out_has "onlyonce "
for command in run show compare check new list; do
    run 0 "$command" --help
    out_has "usage: onlyonce $command"
done
grep -qE 'explore|shrink' "$tmp/out"
ok $((! $?)) "later commands are not listed"
run 2
out_is_empty
err_has "onlyonce run"
run 2 rnu "$story"
err_has 'unknown command "rnu"; did you mean run?'
run 2 run --seds 1..3 "$story"
err_has 'unknown option "--seds"; did you mean --seeds?'
out_is_empty
run 2 run --format jsn "$story"
err_has 'did you mean json?'
run 2 run --format mermaid "$story"
run 2 show --format json "$story"
run 2 run --seed -1 "$story"
run 2 run --seed 9223372036854775808 "$story"
run 2 run --seed "" "$story"
run 2 run --seeds 5..1 "$story"
err_has "a range like 1..100"
run 2 run --seeds 1..x "$story"
run 2 run --shard 0/2 "$story"
run 2 run --shard 3/2 "$story"
run 2 run --receiver "table,,naive" "$story"
run 2 run --receiver
err_has "wants a value"
run 2 run --twice=yes "$story"
err_has "takes no value"
run 2 show --shard 1/2 "$story"
err_has "not an option of this command"
run 2 show "$story" "$three"
run 2 show --limit 0 "$story"
run 2 run
err_has "which scenario file?"
run 2 run - -
run 2 compare "$story"
err_has "-o DIR"
run 2 list
run 2 list chekcs
err_has "did you mean checks?"
run 2 list sites
run 2 list checks extra
run 2 run $'\e[31mevil\n'
grep -q $'\e' "$tmp/err"
ok $((! $?)) "control characters of arguments are not printed raw"
run 0 run -- "$story"
run 0 run --seed=3 "$story"
run 0 --seed 3 run "$story"

# ---- run ----
run 0 run "$story"
out_has "order-1042 charged 2 times: m-77/1"
out_has "4 runs: 4 as expected"
err_is_empty
grep -q $'\e' "$tmp/out"
ok $((! $?)) "no colour where there is no terminal"
run 0 run --quiet "$story"
out_is_empty
run 1 run --receiver naive "$three"
out_has "NOT EXPECTED"
last=$(tail -n 1 "$tmp/out")
ok "$(test "$last" = "$tool run --receiver naive --seed 1 $three"; echo $?)" "last line repeats: $last"
cp "$tmp/out" "$tmp/first"
bash -c "$last" >"$tmp/again" 2>&1
ok $(($? != 1)) "the command fails again"
cmp -s "$tmp/first" "$tmp/again"
ok $? "and prints the same"
run 1 run --seeds 1..9 --receiver table,naive "$three"
out_has "pass     lost-reply  table"
out_has "9 runs, 9 not expected"
out_has "seed 3: fail: no-double-effect"
out_has "fault: lose reply m-77/1"
out_has "... and 6 more unexpected runs"
run 1 run --quiet --receiver table,naive "$three"
grep -q '^pass' "$tmp/out"
ok $((! $?)) "quiet tells only what was not expected"
run 1 run --fail-fast --seeds 1..100 --format json --receiver naive "$three"
ok $(($(wc -l <"$tmp/out") != 1)) "fail-fast stops after one"
run 2 run --receiver tabel "$story"
err_has 'unknown receiver "tabel"; did you mean table?'
out_is_empty
run 0 run --twice --seeds 1..5 "$story"
run 0 run "$tmp"
out_has "7 runs"
run 2 run "$tmp/missing.yaml"
err_has "missing.yaml"
"$tool" run - <"$story" >"$tmp/out" 2>"$tmp/err"
ok $? "standard input is read"
out_has "4 runs: 4 as expected"
printf 'name: x\nrecievers: [table]\n' >"$tmp/bad.yml"
run 2 run "$story" "$tmp/bad.yml"
out_is_empty
err_has "bad.yml:2:1: error:"
rm "$tmp/bad.yml"

# A listed fault that cannot fire makes the run unfired, and is named.
sed 's/lose reply m-77\/1/lose reply m-77\/3/' "$three" >"$tmp/unfired.yaml"
run 1 run --receiver table "$tmp/unfired.yaml"
out_has "did not fire: lose reply m-77/3"
rm "$tmp/unfired.yaml"

# ---- shards ----
for k in 1 2 3; do
    "$tool" run --format json --seeds 1..10 --shard "$k/3" "$story"
done 2>/dev/null | sort >"$tmp/shards"
"$tool" run --format json --seeds 1..10 "$story" | sort >"$tmp/whole"
cmp -s "$tmp/shards" "$tmp/whole"
ok $? "shards make up the whole"
ok $(($(wc -l <"$tmp/whole") != 40)) "which is 40 runs"

# ---- formats ----
run 1 run --format json --receiver table,naive "$three"
ok "$(jq -e -s 'length == 2 and .[0].verdict == "pass" and .[1].expected == false
    and .[1].violations[0].check == "no-double-effect" and (.[1].seed | type) == "number"
    and (.[1].history | test("^[0-9a-f]{16}$")) and .[1].schedule == ["lose reply m-77/1"]' \
    "$tmp/out" >/dev/null; echo $?)" "JSON holds what it promises"
ok "$(test "$(tail -n 1 "$tmp/err")" = "$(jq -r 'select(.expected | not) | .repeat' "$tmp/out")"
    echo $?)" "the command to repeat goes to standard error"
run 1 run --format junit --seeds 1..3 --receiver table,naive "$three"
xmllint --noout "$tmp/out"
ok $? "JUnit is XML"
ok "$(test "$(xmllint --xpath 'count(//testcase)' "$tmp/out")" = 6; echo $?)" "with 6 cases"
ok "$(test "$(xmllint --xpath 'count(//failure)' "$tmp/out")" = 3; echo $?)" "and 3 failures"
run 0 run --format tap "$story"
ok "$(prove -Q -e cat "$tmp/out" >/dev/null 2>&1; echo $?)" "prove accepts it"
run 1 run --format tap --receiver naive "$three"
prove -Q -e cat "$tmp/out" >"$tmp/prove" 2>&1
grep -q 'Failed test:  1' "$tmp/prove"
ok $? "prove sees the failure"
run 0 run --format tap --shard 9/9 "$story"
out_has "1..0 # skipped"

# ---- show ----
run 0 show "$story"
out_has "lost ✗── done m-77/1"
out_has "insert id"
out_has "believes m-77 done"
out_has "verdict: pass (as expected)"
err_has "table, the first of 4 receivers"
run 0 show --receiver naive "$story"
err_is_empty
out_has "✖ no-double-effect: order-1042 charged 2 times: m-77/1"
ok "$(awk '/^verdict/ { exit } { gsub(/[\200-\277]/, ""); if (length($0) > 100) exit 1 }' "$tmp/out"
    echo $?)" "no line of the diagram is wider than 100 columns"
run 1 show --receiver naive "$three"
ok "$(test "$(tail -n 1 "$tmp/out")" = "$tool run --receiver naive --seed 1 $three"; echo $?)" \
    "the last line repeats the run"
run 0 show --limit 2 "$story"
out_has "more; use --limit"
run 0 show --operation m-77 "$story"
run 2 show --operation m-78 "$story"
err_has 'no operation "m-78" in this scenario; did you mean "m-77"?'
run 2 show "$tmp"
err_has "one scenario at a time"
run 0 show --format mermaid "$story"
ok "$(test "$(head -n 1 "$tmp/out")" = sequenceDiagram; echo $?)" "Mermaid begins as it must"
out_has "P1--xP0: done m-77/1, lost"

# ---- check, new, list ----
run 0 check "$tmp"
out_has "story.yaml: ok: lost-reply, 4 receivers, 1 operation, 1 fault"
run 0 new
cp "$tmp/out" "$tmp/template"
run 0 new "$tmp/new.yaml"
cmp -s "$tmp/template" "$tmp/new.yaml"
ok $? "new FILE writes what new prints"
run 0 run "$tmp/new.yaml"
echo mine >"$tmp/new.yaml"
run 2 new "$tmp/new.yaml"
err_has "File exists"
ok "$(test "$(cat "$tmp/new.yaml")" = mine; echo $?)" "new leaves a file alone"
rm "$tmp/new.yaml"
run 0 list receivers
out_has "table"
out_has "(C. Richardson, microservices.io, Idempotent Consumer)"
run 0 list receivers window
err_is_empty
out_has "Amazon SQS FIFO"
out_has "receive begin look-up effect record commit rollback reply expire"
out_has "0s..3650d                     default 5m        how long"
out_has "receipt|completion|last-seen  default receipt   what starts"
out_has "queue|group                   default queue"
out_has "clock that starts the window"
out_has "CREATE TABLE accepted("
out_has "accept id"
run 0 list receivers sqs_fifo
out_has "is window"
out_has "default 5m"
run 0 list receivers azure_service_bus
out_has "default 10m"
run 0 list receivers content_hash
out_has "twins that are meant have one body"
run 0 list receivers
out_has "(preset of window; Amazon SQS FIFO, send side)"
for name in $("$tool" list receivers | grep -o '^[a-z_0-9]*' | sort -u); do
    run 0 list receivers "$name"
    ok "$(test "$(head -n 1 "$tmp/out")" = "$name"; echo $?)" "it begins with its name"
    out_has "handler failure"
done
run 2 list receivers windw
err_has 'unknown receiver "windw"; did you mean window?'
out_is_empty
run 2 list receivers $'\e[31m'
err_has 'list receivers'
run 2 list receivers table naive
err_has 'one thing too many: "naive"'
run 0 list checks
out_has "no-double-effect"
run 0 list faults
out_has "lying-disk"
run 0 list scenarios
out_has "scenarios/seed/lost-reply.yaml"
run 0 list scenarios "$tmp"
out_has "$story"
run 0 list sites --receiver table "$story"
err_is_empty
out_has "  - lose reply m-77/1"
out_has "  - crash receiver at m-77/1 after commit (process)"
ok "$(test -z "$(sort "$tmp/out" | uniq -d)"; echo $?)" "each sentence once"
mkdir "$tmp/sites"
grep -v '^faults:\|^  - lose\|^expect' "$story" >"$tmp/sites/without"
n=0
while IFS= read -r line; do
    n=$((n + 1))
    { cat "$tmp/sites/without"; printf 'faults:\n%s\n' "$line"; } >"$tmp/sites/$n.yaml"
done <"$tmp/out"
run 0 check "$tmp/sites"
ok "$(test "$(wc -l <"$tmp/out")" = "$n"; echo $?)" "each of $n sentences can be pasted"
rm -r "$tmp/sites"
run 0 list sites --receiver table scenarios/retention/crash-in-sweep.yaml
out_has "  - crash receiver at sweep/1 before begin (process)"
out_has "  - pause receiver at sweep/1 before expire for"
run 0 show --receiver table scenarios/retention/crash-in-sweep.yaml
out_has "sweeper"
out_has "remove expired records"

# ---- compare ----
run 0 compare "$tmp" -o "$tmp/made/report"
out_has "made/report"
for file in summary.md results.csv verdicts.csv; do
    ok "$(test -s "$tmp/made/report/$file"; echo $?)" "compare writes $file"
done
if command -v gnuplot >/dev/null; then
    ok "$(xmllint --noout "$tmp/made/report/duplicates.svg"; echo $?)" "the SVG is XML"
    ok "$(test "$(head -c 4 "$tmp/made/report/duplicates.png" | tail -c 3)" = PNG; echo $?)" "the PNG is one"
fi
run 0 compare "$tmp" -o "$tmp/made/again"
diff -r "$tmp/made/report" "$tmp/made/again" >/dev/null
ok $? "the same results give the same bytes"
got=0
PATH=/nonexistent "$tool" compare "$story" -o "$tmp/made/bare" >/dev/null 2>"$tmp/err" || got=$?
ok $got "compare goes on without gnuplot"
err_has "skipped: package gnuplot-nox"
run 1 compare --receiver naive "$three" -o "$tmp/made/third"
ok "$(test "$(tail -n 1 "$tmp/out")" = "$tool run --receiver naive --seed 1 $three"; echo $?)" \
    "the last line repeats the run"
run 3 compare "$story" -o /dev/null/x
rm -rf "$tmp/made"

# ---- output that cannot be written ----
for arguments in "run" "run --format json" "run --format junit" "run --format tap" \
    "run --seeds 1..3" "show" "show --format mermaid" "check" "list sites" "compare -o $tmp/full"; do
    # shellcheck disable=SC2086 # arguments are several words
    "$tool" $arguments "$story" >/dev/full 2>"$tmp/err"
    ok $(($? != 3)) "onlyonce $arguments on a full disk ends with 3"
    err_has "onlyonce: cannot write standard output: No space left on device"
done
for arguments in new "list receivers" "list receivers window" "list checks" "list faults" "list scenarios" --help --version \
    "run --help"; do
    # shellcheck disable=SC2086
    "$tool" $arguments >/dev/full 2>"$tmp/err"
    ok $(($? != 3)) "onlyonce $arguments on a full disk ends with 3"
done
run 3 run "$story" -o /dev/full
ok "$(test -c /dev/full; echo $?)" "a device stays one"
run 3 run "$story" -o "$tmp/missing/out"
run 0 run "$story" -o "$tmp/result"
out_is_empty
grep -q "4 as expected" "$tmp/result"
ok $? "-o writes the file"
ok "$(test -z "$(find "$tmp" -name '.onlyonce*')"; echo $?)" "and leaves nothing beside it"
{ "$tool" run --seeds 1..20000 --format json "$story" 2>"$tmp/err"; echo $? >"$tmp/status"; } |
    head -n 1 >/dev/null
ok "$(test "$(cat "$tmp/status")" = 3; echo $?)" "a closed pipe ends with 3"
err_has "cannot write standard output: Broken pipe"
ok $(($(wc -l <"$tmp/err") != 1)) "said once"

# ---- interruption ----
# A shell's background job ignores SIGINT; the tool catches it all the same.
"$tool" run --seeds 1..900000000 "$story" >"$tmp/out" 2>"$tmp/err" &
pid=$!
sleep 0.5
kill -INT "$pid"
wait "$pid"
ok $(($? != 130)) "an interrupted run ends with 130"
out_has "interrupted: "
"$tool" run --seeds 1..900000000 --receiver naive "$three" >"$tmp/out" 2>"$tmp/err" &
pid=$!
sleep 0.5
kill -INT "$pid"
wait "$pid"
ok $(($? != 1)) "or with 1 after something unexpected"

# ---- sweeps ----
cat >"$tmp/sweep.yaml" <<'END'
name: sweep
receivers: [{name: fifo, is: window}, table]
sweep: {fifo.window: [1m, 5m, 10m]}
senders:
  - {name: shop, messages: [{id: m-77, entity: order-1042, charge: 4200}]}
network: {delay: 20ms}
faults: [duplicate request m-77/1 after 6m]
expect: {fifo: violates no-double-effect, fifo@10m: exactly-once}
END
run 0 check "$tmp/sweep.yaml"
out_has "4 receivers"
run 0 run "$tmp/sweep.yaml"
out_has "sweep: sweep of window"
out_has "value  receiver  applied again  late    DSEVR  records  bytes  verdict"
ok "$(grep -qE '^5m     fifo                  1     0  100.00% +[-0-9]+ +[0-9]+  fail$' "$tmp/out"; echo $?)" \
    "a row for 5m"
ok "$(grep -qE '^10m    fifo                  0     0    0.00% +[-0-9]+ +[0-9]+  pass$' "$tmp/out"; echo $?)" \
    "a row for 10m"
run 0 run --quiet "$tmp/sweep.yaml"
out_is_empty
run 0 run --receiver fifo "$tmp/sweep.yaml"
out_has "3 runs: 3 as expected"
run 0 run --receiver fifo@5m "$tmp/sweep.yaml"
out_has "1 run: 1 as expected"
run 0 run --receiver fifo@5m,fifo,table "$tmp/sweep.yaml" --format json
ok "$(test "$(wc -l <"$tmp/out")" = 4; echo $?)" "each receiver is played once"
ok "$(test "$(head -n 1 "$tmp/out" | jq -c .sweep)" = '{"receiver":"fifo","setting":"window","value":"5m"}'; echo $?)" \
    "JSON names the value"
ok "$(test "$(tail -n 1 "$tmp/out" | jq 'has("sweep")')" = false; echo $?)" "and only where there is a sweep"
run 2 run --receiver fifo@6m "$tmp/sweep.yaml"
err_has 'unknown receiver "fifo@6m"; did you mean fifo@'
sed 's/^expect: .*//' "$tmp/sweep.yaml" >"$tmp/sweep-bad.yaml"
run 1 run "$tmp/sweep-bad.yaml"
out_has "fail, NOT EXPECTED"
out_has "$tool run --receiver fifo@1m --seed 1 $tmp/sweep-bad.yaml"
run 0 compare "$tmp/sweep.yaml" "$story" -o "$tmp/made/swept"
ok "$(test "$(wc -l <"$tmp/made/swept/sweep.csv")" = 4; echo $?)" "sweep.csv has a row for each value"
ok "$(grep -q '^sweep,fifo,window,5m,300000000000,1,1,0,1,100.00,' "$tmp/made/swept/sweep.csv"; echo $?)" "for 5m"
ok "$(grep -qF '| 10m | fifo | 0 | 0 | 0.00% |' "$tmp/made/swept/summary.md"; echo $?)" "so has summary.md"
if command -v gnuplot >/dev/null; then
    ok "$(grep -qF '(sweep-1.svg)' "$tmp/made/swept/summary.md"; echo $?)" "which shows the plot"
    ok "$(xmllint --noout "$tmp/made/swept/sweep-1.svg"; echo $?)" "its SVG is XML"
    ok "$(test "$(head -c 4 "$tmp/made/swept/sweep-1.png" | tail -c 3)" = PNG; echo $?)" "its PNG is one"
    ok "$(grep -q '>fifo: bytes kept<' "$tmp/made/swept/sweep-1.svg"; echo $?)" "its legend names the receiver"
fi
run 0 compare "$story" -o "$tmp/made/swept"
ok "$(! ls "$tmp/made/swept" | grep -q sweep; echo $?)" "the next comparison leaves none of it"
rm "$tmp/sweep.yaml" "$tmp/sweep-bad.yaml"

# ---- hostile names ----
evil="$tmp/it's \$(touch pwned)"$'\n\e[31m'
mkdir "$evil"
cat >"$evil/=x.yaml" <<'END'
name: "=a|b,\"c\" #1 <&>'`*_"
receivers: [{name: "t,\"x\" #", is: naive}]
senders:
  - name: "sh;op#"
    messages:
      - {id: "m;77#", entity: "order|1042 <b>", charge: 4200}
faults:
  - lose reply "m;77#"/1
END
cd "$tmp" || exit 1
run 1 run "$evil"
grep -q $'\e' "$tmp/out"
ok $((! $?)) "no escape sequence reaches the terminal"
bash -c "$(tail -n 1 "$tmp/out")" >"$tmp/again" 2>&1
ok $(($? != 1)) "the command repeats the failure"
cmp -s "$tmp/out" "$tmp/again"
ok $? "exactly"
run 1 run --format json "$evil"
ok "$(jq -e '.receiver == "t,\"x\" #"' "$tmp/out" >/dev/null; echo $?)" "JSON keeps the name"
run 1 run --format junit "$evil"
ok "$(xmllint --noout "$tmp/out"; echo $?)" "JUnit is XML"
run 1 run --format tap "$evil"
prove -Q -e cat "$tmp/out" >"$tmp/prove" 2>&1
ok "$(grep -q 'Failed test:  1' "$tmp/prove"; echo $?)" "prove sees one failure and no directive"
run 1 show --format mermaid "$evil"
out_has "participant P0 as #34;sh#59;op#35;#34;"
cat >"$evil/=y.yaml" <<'END'
name: "=a|b'`touch pwned`"
receivers: [{name: "'`touch pwned`%s\"\\", is: window}]
sweep: {receiver.window: [1m, 5m]}
senders:
  - {name: shop, messages: [{id: m-77, entity: order-1042, charge: 4200}]}
faults: [duplicate request m-77/1]
END
run 1 compare "$evil" -o "$evil/report"
ok "$(grep -qF '&#60;b&#62;' "$evil/report/summary.md"; echo $?)" "Markdown is escaped"
ok "$(grep -q "^\"'=a|b" "$evil/report/results.csv"; echo $?)" "CSV is disarmed"
ok "$(grep -q "^'=a|b" "$evil/report/sweep.csv"; echo $?)" "that of sweeps too"
if command -v gnuplot >/dev/null; then
    ok "$(xmllint --noout "$evil/report/sweep-1.svg"; echo $?)" "and their plot is drawn"
    ok "$(! grep -q pwned "$evil/report/sweep-1.gp"; echo $?)" "by a script without names"
fi
ok "$(test ! -e pwned; echo $?)" "nothing was executed"

# ---- shrink ----
cat >"$tmp/long.yaml" <<'END'
name: long
receivers: [table, naive]
senders:
  - name: shop
    workload: {count: 200, entities: 10}
    retry: {after: 1s, limit: 9}
network: {lose: 1/20}
END
run 0 shrink "$tmp/long.yaml" -o "$tmp/small.yaml"
out_is_empty
err_has "messages -> 1"
run 0 run "$tmp/small.yaml"
out_has "long-shrunk"
run 0 shrink "$tmp/small.yaml"
cmp -s "$tmp/out" "$tmp/small.yaml"
ok $? "shrinking the smallest story changes nothing"
run 1 shrink "$tmp/long.yaml" --receiver table
err_has "nothing to shrink"
out_is_empty
run 2 shrink
run 2 shrink "$tmp/long.yaml" "$tmp/small.yaml"
run 2 shrink --keep x "$tmp/long.yaml"
run 3 shrink -o /dev/full "$tmp/long.yaml"
err_has "No space left"
run 1 run "$tmp/long.yaml"
out_has "smallest story: "
out_has "  lose reply shop-"
test "$(tail -n 1 "$tmp/out")" = "$tool run --receiver naive --seed 1 $tmp/long.yaml"
ok $? "the last line repeats the failure"
run 1 run --no-shrink "$tmp/long.yaml"
grep -q "smallest story" "$tmp/out"
ok $((! $?)) "--no-shrink looks for no story"
run 1 run --keep "$tmp/stories" --format json "$tmp/long.yaml"
cmp -s "$tmp/stories/long-naive.yaml" "$tmp/small.yaml"
ok $? "--keep writes the same story"
run 1 run --keep "$tmp/stories" "$evil"
ok "$(find "$tmp/stories" -name '_a_b_*.yaml' | grep -c . | grep -qx 1; echo $?)" \
    "under a name that is safe"
run 0 run "$tmp/stories"
ln -s "$tmp/target" "$tmp/stories/x" && mv "$tmp/stories/x" "$tmp/stories/long-naive.yaml"
run 3 run --keep "$tmp/stories" "$tmp/long.yaml"
ok "$(test ! -e "$tmp/target"; echo $?)" "--keep follows no link"

# ---- explore ----
run 0 explore --faults 1 "$story"
out_has "every schedule with at most 1 fault: "
out_has "first counterexample, 1 fault:"
out_has "digest "
run 0 explore --faults 1 --format json --jobs 2 "$story"
ok "$(python3 -c 'import json,sys; rows=[json.loads(l) for l in open(sys.argv[1])]
assert len(rows) == 4 and all(r["schedules"] > 100 and r["expected"] for r in rows)
assert rows[3]["verdict"] == "fail" and rows[3]["counterexample"]' "$tmp/out"; echo $?)" "its certificates are JSON"
run 1 explore --faults 1 --receiver naive "$three"
out_has "smallest story: 1 fault"
ok "$(test "$(tail -n 1 "$tmp/out")" = "$tool explore --faults 1 --receiver naive --seed 1 $three"; echo $?)" \
    "the last line explores it again"
run 1 explore --faults 1 --no-shrink --receiver naive "$three"
run 0 explore --only lose:reply,crash:commit --faults 2 --receiver table "$story"
out_has "every schedule with at most 2 faults: "
run 1 explore --only clock --faults 1 --receiver table "$story"
out_has "vacuous"
run 1 explore --faults 3 --limit 50 --receiver table "$story"
out_has "not all was covered"
run 1 explore --faults 2 --assume lying-disk --only lying-disk,crash --receiver table "$story"
out_has "lying-disk receiver"
run 1 explore --faults 1 --assume lying-disk --only lying-disk,lose --receiver table "$story"
out_has "NOT EXPECTED"
run 2 explore --only crsh "$story"
err_has 'did you mean crash?'
run 2 explore --only lose:rply "$story"
err_has 'did you mean reply?'
run 2 explore --assume crash "$story"
err_has 'covered anyway'
run 2 explore --faults 6 "$story"
run 2 explore --jobs 0 "$story"
run 2 explore --limit 0s "$story"
run 2 explore --format junit "$story"
run 3 explore --faults 0 "$story" -o /dev/full
err_has "No space left on device"
("$tool" explore --faults 4 --receiver table "$story" >"$tmp/out" 2>"$tmp/err" & child=$!
 sleep 1; kill -INT $child; wait $child); status=$?
ok "$(test $status -eq 130; echo $?)" "Ctrl-C ends an exploration with 130"
out_has "interrupted, not all was covered"

# ---- settings of receivers ----
sed 's/^receivers:.*/receivers: [{name: short, is: window, window: 1s}, {name: fifo, is: window, window: 20s}]/
s/^expect:.*/expect: {short: violates no-double-effect}/
s/after: 1s/after: 6s/' "$story" >"$tmp/windows.yaml"
run 0 run "$tmp/windows.yaml"
out_has "2 runs: 2 as expected"
run 0 run --receiver window "$tmp/windows.yaml"
out_has "1 pass"
run 0 run --receiver short,fifo "$tmp/windows.yaml"
sed 's/window: 20s/windo: 20s/' "$tmp/windows.yaml" >"$tmp/windows-bad.yaml"
run 2 run "$tmp/windows-bad.yaml"
err_has 'unknown key "windo" in a receiver that is window; did you mean "window"?'

# ---- whether retention covers the retries ----
cat >"$tmp/cover.yaml" <<'END'
name: long-retries
receivers: [{name: mine, is: window, window: 1h}, {name: long, is: window, window: 3h}, table]
senders:
  - name: shop
    messages: [{id: m-77, entity: order-1042, charge: 4200}]
    retry: {after: 1m, limit: 121}
network: {delay: {request: 0s..5m, reply: 1s}}
faults: [duplicate request m-77/1 after 61m]
contract: {window: 1h}
END
note='a retry may come 3h6m after the first delivery (shop: retries 2h, delay 1h6m), but records are kept'
sentence="$note for 1h: raise window of mine to more than 3h6m, or lower retry.limit or retry.deadline of shop"
run 0 check "$tmp/cover.yaml"
out_has "$tmp/cover.yaml: ok: long-retries, 3 receivers, 1 operation, 1 fault"
out_has "note: $tmp/cover.yaml: receiver mine: $sentence"
out_has "note: $tmp/cover.yaml: receiver long: $note for 3h: "
ok "$(test "$(grep -c '^note: ' "$tmp/out")" -eq 2; echo $?)" "one note for each receiver that forgets"
err_is_empty
run 0 check --quiet "$tmp/cover.yaml"
out_is_empty
run 0 run "$tmp/cover.yaml"
out_has "           note: $sentence"
ok "$(test "$(grep -c 'note: ' "$tmp/out")" -eq 1; echo $?)" "no note where nothing came late"
run 0 run --format json "$tmp/cover.yaml"
out_has '"retention_covers_retries":{"holds":false,"needed_ns":11160000000000,"given_ns":3600000000000,"text":"a retry'
sed 's/^contract:.*/expect: {mine: violates retention-covers-retries, long: retention-covers-retries}/
s/window: 3h/window: 4h/' "$tmp/cover.yaml" >"$tmp/covered.yaml"
run 0 run "$tmp/covered.yaml"
out_has "           retention-covers-retries: $sentence"
out_has "3 runs: 3 as expected"
run 0 check "$tmp/covered.yaml"
ok "$(test "$(grep -c '^note: ' "$tmp/out")" -eq 1; echo $?)" "no note where retries are covered"
run 0 list checks
out_has retention-covers-retries
out_has bounded-records
run 0 compare -o "$tmp/records" "$story"
ok "$(grep -q '^| records at the end |' "$tmp/records/summary.md"; echo $?)" "the summary has records"
ok "$(head -1 "$tmp/records/results.csv" | grep -q ',database_bytes,late,records,records_most,premature_expirations,follow_ons,follow_deliveries,follow_effects,history,'
    echo $?)" "so have the results"

echo "1..$count"
exit $failed
