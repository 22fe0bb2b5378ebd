// Stands in for a program whose packages are not available, which was already said.

Deno.exit(1);
