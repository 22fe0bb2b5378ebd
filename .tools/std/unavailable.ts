// Runs before a program whose packages are not available, which was already said, and
// ends it.

Deno.exit(1);
