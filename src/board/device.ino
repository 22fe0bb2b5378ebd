// Sends a reading once a minute, from an ESP8266 or an ESP32 (untested on a real one). Replace
// the network, its password, the URL, and the sensor.
#ifdef ESP8266
#include <ESP8266HTTPClient.h>
#include <ESP8266WiFi.h>
#else
#include <HTTPClient.h>
#include <WiFi.h>
#endif

const char *NETWORK = "NETWORK";
const char *PASSWORD = "PASSWORD";
const char *URL = "http://BOARD:5001/WORD/kitchen"; // the board's address works everywhere

// Returns NAN if the sensor cannot be read, also in place of a library's -127 or 85
float readTemperature() {
  return NAN;
}

void send(float celsius) {
  WiFiClient client;
  HTTPClient http;
  http.begin(client, URL);
  http.addHeader("Content-Type", "application/json");
  int status = http.POST("{\"temperature_C\":" + String(celsius) + "}");
  // 200 is the answer to a reading that is taken, and other answers say what to change
  if (status < 0) Serial.println(http.errorToString(status));
  else if (status != 200) Serial.println(http.getString());
  http.end();
}

void setup() {
  Serial.begin(115200);
  WiFi.mode(WIFI_STA);
  WiFi.begin(NETWORK, PASSWORD); // from then on, it reconnects by itself
}

void loop() {
  float celsius = readTemperature();
  if (!isnan(celsius)) send(celsius); // if nothing is sent, the board says how long ago
  delay(60000);
}
