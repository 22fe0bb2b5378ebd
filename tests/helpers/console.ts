// Consoles that are unusual.

/** Returns a command that makes another one's descriptor non-blocking. */
export function nonBlocking(descriptor: number): string[] {
  const code = `import os, sys
os.set_blocking(${descriptor}, False)
os.execvp(sys.argv[1], sys.argv[1:])`;
  return ["python3", "-c", code];
}

/** A script that runs a command with a full, unread pipe as standard error. */
export const WITH_FULL_STDERR = `
  pipe=$(mktemp -u)
  mkfifo "$pipe"
  exec 3<>"$pipe"
  rm "$pipe"
  dd if=/dev/zero of=/dev/fd/3 bs=4096 oflag=nonblock 2>/dev/null
  exec "$@" 2>&3 3>&-`;
