// What helps if Deno does not trust a server, as behind a company's proxy.

/** Returns the remedy for a reason why a connection has failed, if it is that. */
export function adviseOnCertificates(reason: string): string | undefined {
  if (!reason.includes("certificate")) return;
  return "set DENO_TLS_CA_STORE=system to trust the system's certificates";
}
