# Sends a reading once a minute, from a device with MicroPython (untested on a real one). Save
# it as main.py. Replace the network, its password, the URL, and the sensor.
import time

import network
import requests  # urequests in older firmware

URL = "http://BOARD:5001/WORD/kitchen"  # the board's address works everywhere


def read_temperature():
    raise OSError("No sensor")


wlan = network.WLAN(network.STA_IF)
wlan.active(True)

while True:
    try:
        if not wlan.isconnected():  # a Pico W tries once only: the router may start later
            wlan.connect("NETWORK", "PASSWORD")
            time.sleep(10)
        # Keys and texts must be ASCII: MicroPython counts letters instead of bytes
        reading = {"temperature_C": read_temperature()}
        answer = requests.post(URL, json=reading, timeout=10)
        if answer.status_code != 200:  # other answers say what to change
            print(answer.text)
        answer.close()
    except Exception as error:  # drivers raise many kinds
        print(error)  # if nothing is sent, the board says how long ago
    time.sleep(60)
