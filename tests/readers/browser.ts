// Opens pages in Chromium.

/**
 * Returns a command that prints the document of a page as it is after some seconds, which
 * pass as fast as the page permits.
 */
export function chromium(url: string, profile: string, seconds = 1): string[] {
  return [
    "env",
    "TZ=Europe/Berlin",
    "LANGUAGE=en_US",
    "chromium",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--blink-settings=preferredColorScheme=0", // dark
    "--disable-background-networking",
    "--ignore-certificate-errors",
    `--user-data-dir=${profile}`,
    `--virtual-time-budget=${seconds * 1000}`,
    "--dump-dom",
    url,
  ];
}
