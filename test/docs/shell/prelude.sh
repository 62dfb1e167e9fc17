# Stands before each `sh` block. PATH has only the programs that a block may really run. The functions below stand for others,
# which would install, deploy or never end. A program that is neither fails the block.
set -eo pipefail
cd "$FOLDER"
export HOME="$FOLDER"
mkdir -p ~/.config/fish/completions
fpath=(unused "$FOLDER") # of zsh

# Ends the block, also from a pipeline or a list.
fail() {
  echo "$1" >&2
  kill $$
  exit 1
}

listed() {
  [[ " $2 " == *" $1 "* ]] || fail "$1 is not one of: $2"
}

# The real command. A command that does not end is stopped after its first line.
oriel() {
  local status=0
  case "$1" in
    watch | count) oriel_until_line "$@" ;;
    dashboard) oriel_until_line "$@" --port 0 ;;
    *)
      [[ "$1" != top || "$*" == *--once* ]] || set -- "$@" --once # there is no terminal
      node "$ORIEL" "$@" || status=$?
      # A doctor of a healthy server without persistence has the status 1.
      [[ "$status" == 0 || "$FAILS" || "$status $1" == "1 doctor" ]] || fail "oriel $*: exit status $status"
      ;;
  esac
}

oriel_until_line() {
  local line
  exec 3< <(exec node "$ORIEL" "$@")
  local child=$!
  read -r -t 30 line <&3 || fail "oriel $*: it prints nothing"
  echo "$line"
  kill "$child"
  exec 3<&-
}

npm() {
  case "$1" in
    init | pkg) command npm "$@" ;;
    install) packages "${@:2}" ;;
    start | test) listed "$1" "$SCRIPTS" ;;
    run)
      listed "$2" "$SCRIPTS"
      [[ "$2" != bench ]] || bench "${@:4}"
      ;;
    *) fail "no rule for npm $*" ;;
  esac
}

bench() {
  while (($#)); do
    case "$1" in
      --only) listed "$2" "$BENCHES" && shift ;;
      --output) shift ;;
      *) listed "$1" "$BENCH_OPTIONS" ;;
    esac
    shift
  done
}

# Each package is oriel, or one that the tests install.
packages() {
  local name
  for name; do
    [[ "$name" == --save-dev ]] && continue
    name="${name%@[0-9]*}" # without its version
    listed "$name" "$PACKAGES"
    installed+=" $name"
  done
}

npx() {
  [[ "$1" == oriel ]] && { oriel "${@:2}"; return; }
  listed "$1" "$installed" # above in this block
}

# The real program runs an empty main.ts, so it sees the options.
bun() {
  case "$1" in
    add) packages "${@:2}" ;;
    run) [[ ! "$BUN" ]] || "$BUN" "$@" ;;
    *) fail "no rule for bun $*" ;;
  esac
}

deno() {
  case "$1" in
    add) packages "${@:2}" ;;
    run) [[ ! "$DENO" ]] || "$DENO" "$@" ;;
    serve) listed "$2" main.ts ;; # it never ends
    *) fail "no rule for deno $*" ;;
  esac
}

git() {
  [[ "$1" == clone ]] || fail "no rule for git $*"
  [[ "$2" == "$REPOSITORY" ]] || fail "the repository is $REPOSITORY"
  mkdir -p "$(basename "$2")"
}

# Until each server of the block listens.
sleep() {
  local port
  for port in ${PORTS:-$PORT}; do
    until (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
      [[ "$(jobs -r)" ]] || fail "no server listens on $port: it has ended"
      command sleep 0.05
    done
  done
}

# The file so far.
tail() {
  cat "$2"
}

# A pause of the server, which other blocks use, is short.
redis-cli() {
  command redis-cli "${@/#5000/1}"
}
