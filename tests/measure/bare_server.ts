// The baseline of the bench: Deno.serve with the same response and no log.

const body = JSON.stringify("Sensor data");
const headers = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "content-type": "application/json",
};

Deno.serve(
  { port: Number(Deno.args[0]), hostname: "0.0.0.0", onListen() {} },
  () => new Response(body, { headers }),
);
