# Sourced by tests of scripts. They define `run`: the tested script with its constant arguments. The working folder and
# TMPDIR are a scratch folder, which is removed at the end.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export TMPDIR=$folder
# The software driver where it is installed, whatever devices there are.
for driver in /usr/share/vulkan/icd.d/lvp_icd*; do
  if [ -z "${VK_DRIVER_FILES:-}" ] && [ -e "$driver" ]; then export VK_DRIVER_FILES=$driver; fi
done

# expect CODE TEXT ARGS…: the script ends with CODE and says TEXT (a part of a line) on either stream; `said` has both.
expect() {
  local code=$1 text=$2 ended=0
  shift 2
  run "$@" > said 2>&1 || ended=$?
  if [ "$ended" -ne "$code" ] || ! grep -qF -- "$text" said; then
    echo "${script##*/} $*: exit code $ended, expected $code; expected '$text' in:"
    cat said
    exit 1
  fi
}
